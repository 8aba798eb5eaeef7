"""What the encoder would write in place of each [MASK] that was typed."""

import streamlit as st

from app_pages import state


def masked_tokens(selection: state.Selection) -> None:
    """A line for each [MASK]; nothing where there is none."""
    for place, found in state.guesses(selection.checkpoint, selection.given).items():
        # As code, a token with markup of its own stays a token.
        words = ", ".join(f"`{guess.token}` {guess.probability:.1%}" for guess in found)
        st.markdown(f"In place of **[MASK]**, position {place}: {words}")
