"""What the encoder would write in place of each [MASK] that was typed."""

import streamlit as st

from app_pages import state
from app_pages.widgets.words import as_code
from model.inputs import Text
from model.text import MASK

_MOST = 5  # lines above the page


def masked_tokens(selection: state.Selection) -> None:
    """A line for each [MASK]; nothing where there is none."""
    if not isinstance(selection.given, Text):
        return
    guesses = state.guesses(selection.checkpoint, selection.given)
    for place, found in list(guesses.items())[:_MOST]:
        words = ", ".join(f"{as_code(guess.token)} {guess.probability:.1%}" for guess in found)
        st.markdown(f"In place of **[MASK]**, position {place}: {words}")
    if len(guesses) > _MOST:
        st.caption(f"The other {len(guesses) - _MOST:,} masked tokens are not listed.")
    if MASK in selection.given.text and not state.loaded(selection.checkpoint).config.masked_token_output:
        st.caption(f"This encoder has not learned what to expect behind {as_code(MASK)}.")
