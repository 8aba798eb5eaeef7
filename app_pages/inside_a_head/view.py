"""What the drawings of the steps are given, and the choice of the one key that they show in detail."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from app_pages import state
from app_pages.state import HeadSelection, Input
from model.head_steps import HeadSteps, between, head_steps
from model.record import ForwardRecord
from viz.attention.token_label import label

FEW, STRONG = 24, 16  # up to so many keys all are drawn, of more the strongest
KEY, STRONGEST = "inside_key", "strongest"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One query's steps, and which of its keys are looked at."""

    chosen: HeadSelection
    record: ForwardRecord
    steps: HeadSteps
    query: int
    key: int
    keys: tuple[int, ...]  # those that are drawn, in the order of their positions

    @property
    def n(self) -> int:
        return len(self.record.tokens)

    @property
    def head(self) -> str:
        return f"L{self.chosen.layer} H{self.chosen.head}"

    @property
    def n_hidden(self) -> int:
        """Keys that are not drawn."""
        return self.n - len(self.keys)

    def name(self, position: int) -> str:
        """No two alike: tokens, which can occur twice, come with their position."""
        token = self.record.tokens[position]
        return token if self.record.patch_grid else f"{position} {label(token, 14)}"

    def names(self, positions: Iterable[int]) -> list[str]:
        return [self.name(position) for position in positions]

    def take_row(self, row: dict) -> None:
        """For callbacks: the key in the row that was clicked; a row below the keys is none."""
        if row["row"] < len(self.keys):
            st.session_state[KEY] = self.keys[int(row["row"])]


def choose_view(chosen: HeadSelection, query: int) -> View:
    """Draws the boxes for the key, and for all keys where these are many.

    Raises ValueError as `model.head_steps.head_steps` does.
    """
    record = state.record(chosen.checkpoint, chosen.given)
    steps = _steps(chosen.checkpoint, chosen.given, chosen.layer, chosen.head, query)
    n = len(record.tokens)
    by_weight = np.argsort(-steps.attention.pattern, kind="stable")
    if KEY in st.session_state:  # written back in any case, as `choose_query` does, which see
        held = st.session_state[KEY]
        st.session_state[KEY] = held if held in (STRONGEST, *range(n)) else STRONGEST

    def named(at: str | int) -> str:
        if at == STRONGEST:
            return STRONGEST
        return f"{at} {record.tokens[at]}" if record.patch_grid is None else record.tokens[at]

    key = st.selectbox(
        "Key",
        (STRONGEST, *range(n)),
        format_func=named,
        key=KEY,
        bind="query-params",
        persist_state="session",
        width=160,
        help="The token or patch that is looked at, in detail. Click a row in the figures to choose it.",
    )
    key = int(by_weight[0]) if key == STRONGEST else key
    every = n > FEW and st.toggle(
        f"All {n} keys", key="inside_every_key", bind="query-params", persist_state="session"
    )
    keys = range(n) if every or n <= FEW else {key, *by_weight[:STRONG].tolist()}
    return View(chosen=chosen, record=record, steps=steps, query=query, key=key, keys=tuple(sorted(keys)))


@st.cache_resource(max_entries=24, show_spinner=False)
def _between(name: str, given: Input, layer: int) -> dict[str, np.ndarray]:
    return between(state.loaded(name), given, layer)


@st.cache_resource(max_entries=24, show_spinner=False)
def _steps(name: str, given: Input, layer: int, head: int, query: int) -> HeadSteps:
    seen = _between(name, given, layer)
    return head_steps(
        state.loaded(name), state.record(name, given), seen, layer=layer, head=head, query=query
    )
