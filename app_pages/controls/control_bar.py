"""The bar of a page, which holds its controls."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def bar(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """A line of controls, whose labels stand inside them: a place for them, and one at its end."""
    with st.container(horizontal=True, gap="xsmall", key=f"bar_{key}"):
        controls = st.container(horizontal=True, vertical_alignment="center", gap="xsmall")
        return controls, st.container(width="content")
