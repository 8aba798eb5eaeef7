"""Places side by side; in a narrow window they stand below each other."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def beside(*names: str) -> list[DeltaGenerator]:
    """A container for each name, side by side; a name may stand once on a page."""
    with st.container(horizontal=True, gap="medium"):
        return [st.container(key=f"side_{name}") for name in names]
