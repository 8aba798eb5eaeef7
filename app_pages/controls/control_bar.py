"""The controls of a page: tabs for its parts, and one bar of what is chosen there."""

from collections.abc import Iterable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls import address


def parts(options: Iterable[str], *, key: str, label: str = "Part") -> str:
    """The parts of a page, as tabs; the one that is chosen."""
    with st.container(key=f"parts_{key}"):
        return address.row(label, options, key=key, label_visibility="collapsed", width="stretch")


def bar(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """A line of controls, whose labels stand inside them: a place for them, and one at its end."""
    with st.container(horizontal=True, gap="xsmall", key=f"bar_{key}"):
        controls = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")
        return controls, st.container(width="content")
