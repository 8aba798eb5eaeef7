"""Containers next to each other; in a narrow window they are below each other."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def beside(*names: str) -> list[DeltaGenerator]:
    """A container for each name, next to each other; a name may be used only once on a page."""
    with st.container(horizontal=True, gap="medium"):
        return [st.container(key=f"side_{name}") for name in names]
