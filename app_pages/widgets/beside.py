"""Places side by side; in a narrow window they stand below each other."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def beside(*names: str) -> list[DeltaGenerator]:
    """One place a name; no two on a page have the same."""
    with st.container(horizontal=True, gap="medium"):
        return [st.container(key=f"side_{name}") for name in names]
