"""The input as it is, and under the chosen mask: forwards that are made once."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages import state
from model import intervention
from model.capture import capture
from model.intervention import MaskChoice, Method
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
    return capture(state.loaded(name), given, intervention.masked(choice))


@st.cache_resource(max_entries=4, show_spinner=False)
def _attending_to_padding(name: str, text: str, n_padding: int) -> ForwardRecord:
    padding = MaskChoice(kind="padding", n_padding=n_padding)
    return capture(state.loaded(name), text, intervention.masked(padding, "ignored"))


# By the name under which the page shows them: how a mask is applied, and whether a finite number is put in.
METHODS: dict[str, tuple[Method, bool]] = {
    "encoder": ("encoder", False),
    "infinity": ("replaced", False),
    "replaced": ("replaced", True),
    "added": ("added", True),
    "zeroed": ("zeroed", False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one method of masking made of one head, and of the answer."""

    mask: np.ndarray  # [query, key]
    pattern: np.ndarray  # [query, key]
    probabilities: np.ndarray  # [class]; NaN where the scores of a row are all -inf


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
) -> dict[str, Outcome]:
    """By method; in the head looked at, the query `closed` is masked from every key besides."""
    closing = intervention.Intervention()
    if closed is not None:
        cells = tuple((closed, key) for key in range(len(masked(name, given, choice).tokens)))
        closing = intervention.masked(MaskChoice(kind="cells", cells=cells, layers=(layer,), heads=(head,)))
    found = {}
    for shown, (method, is_finite) in METHODS.items():
        changed = closing + intervention.masked(choice, method, value if is_finite else -np.inf)
        record = capture(state.loaded(name), given, changed)
        found[shown] = Outcome(
            mask=record.mask[layer, head].copy(),
            pattern=record.pattern[layer, head].copy(),
            probabilities=record.probabilities,
        )
    return found
