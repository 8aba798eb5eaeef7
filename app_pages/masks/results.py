"""The input as it is, and under the chosen mask: forwards that are made once."""

from dataclasses import dataclass

import streamlit as st

from app_pages import state
from model.experiments import masking
from model.experiments.masking import MaskChoice, Outcomes
from model.record import ForwardRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What the page compares."""

    before: ForwardRecord  # the input as it is
    unmasked: (
        ForwardRecord  # the positions of `after` without any mask; with appended padding more than `before`
    )
    after: ForwardRecord

    @property
    def has_padding(self) -> bool:
        """Whether [PAD] tokens were appended to a text."""
        return len(self.after.tokens) > len(self.before.tokens)

    @property
    def masks_nothing(self) -> bool:
        return bool((self.after.mask == self.unmasked.mask).all())


def results(name: str, given: state.Input, choice: MaskChoice) -> Results:
    before, after = state.record(name, given), masked(name, given, choice)
    padded = len(after.tokens) > len(before.tokens)
    unmasked = _attending_to_padding(name, given, choice.n_padding) if padded else before
    return Results(before=before, unmasked=unmasked, after=after)


# As large as those in `state.record`.
@st.cache_resource(max_entries=8, show_spinner=False)
def masked(name: str, given: state.Input, choice: MaskChoice) -> ForwardRecord:
    return masking.masked(state.loaded(name), given, choice)


@st.cache_resource(max_entries=4, show_spinner=False)
def _attending_to_padding(name: str, text: str, n_padding: int) -> ForwardRecord:
    return masking.attending_to_padding(state.loaded(name), text, n_padding)


@st.cache_resource(max_entries=8, show_spinner="Masking in every way …")
def outcomes(
    name: str,
    given: state.Input,
    choice: MaskChoice,
    *,
    layer: int,
    head: int,
    value: float,
    closed: int | None = None,
) -> Outcomes:
    """As `model.experiments.masking.outcomes`."""
    return masking.outcomes(
        state.loaded(name), given, choice, layer=layer, head=head, value=value, closed=closed
    )
