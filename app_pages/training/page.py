"""Training: how the shipped encoders came to be what they are, played from what their runs recorded."""

import streamlit as st

from app_pages import state
from app_pages.inputs.row import choose_encoder
from app_pages.training.histories import histories
from app_pages.training.player import player
from app_pages.widgets.bar import bar, parts

FILM, HISTORIES = "film", "histories"


def pair() -> tuple[str, ...]:
    """The pair of which one encoder is chosen, or that one alone."""
    name = choose_encoder()
    return (state.pair(name) or (name,)) if name is not None else ()


part = parts((FILM, HISTORIES), key="training")
controls, more = bar("controls")
with controls:
    names = pair()
try:
    if not names:
        st.info("There is no encoder of this kind to show.")
    elif part == FILM:
        player(names, controls, more)
    else:
        histories(names, controls)
except (ValueError, OSError) as error:
    st.info(f"This cannot be shown: {error}.")
