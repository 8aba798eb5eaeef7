"""A figure and what is to be said of it: side by side, or below each other in a narrow window."""

from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


class Row(NamedTuple):
    """Places for one thing each, which can be drawn anew while numbers come in."""

    figure: DeltaGenerator
    words: DeltaGenerator


def row(key: str) -> Row:
    with st.container(horizontal=True, gap="medium"):
        figure = st.container(key=f"figure_{key}")
        words = st.container(key=f"words_{key}")
    return Row(figure.empty(), words.empty())
