"""The bar of a page, which holds its controls, and the other places that it fills."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def bar(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """A line of controls, whose labels stand inside them: a place for them, and one at its end."""
    with st.container(horizontal=True, gap="xsmall", key=f"bar_{key}"):
        controls = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")
        return controls, st.container(width="content")


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The places beside and below its input that a page fills."""

    beside: DeltaGenerator  # next to the input: for another one
    answer: DeltaGenerator  # at the end of the row: for the prediction, where it matters
    controls: DeltaGenerator  # the bar below it
    more: DeltaGenerator  # the end of that bar

    @cached_property
    def view(self) -> DeltaGenerator:
        """For what is rarely changed, behind a button at the end of the bar; the button is there once this was asked for."""
        return self.more.popover("View", key="more")
