"""The bar with a page's controls, and the other containers that a page fills."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def bar(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Draws an empty line for controls, whose labels stand inside them; returns its main container and the container at its
    end.
    """
    with st.container(horizontal=True, gap="xsmall", key=f"bar_{key}"):
        controls = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")
        return controls, st.container(width="content")


def beside(*names: str) -> list[DeltaGenerator]:
    """A container for each name, next to each other, in a narrow window below each other. A name can be used once on a page."""
    with st.container(horizontal=True, gap="medium", key=f"beside_{names[0]}"):
        return [st.container(key=f"side_{name}") for name in names]


@dataclass(frozen=True, kw_only=True)
class Slots:
    """Containers next to and below the input row, which each page fills with its own controls and predictions."""

    beside: DeltaGenerator  # next to the input: for another one
    answer: DeltaGenerator  # at the end of the row: for the prediction, where it matters
    controls: DeltaGenerator  # the bar below it
    bar_end: DeltaGenerator  # the end of that bar

    @cached_property
    def view(self) -> DeltaGenerator:
        """Container for rarely used controls, behind a button at the end of the bar; the first use creates the button."""
        return self.bar_end.popover("View", key="more")
