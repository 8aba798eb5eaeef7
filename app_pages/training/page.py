"""Training: how the shipped encoders were trained, played back from recordings of their training runs."""

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.training_controls import PART, RECORDING
from app_pages.inputs.row import choose_encoder
from app_pages.subject import cache, encoders, session_encoders
from app_pages.subject.cache import Checkpoint
from app_pages.toolkit.markdown import plain
from app_pages.training.histories import draw_histories
from app_pages.training.player import draw_player

_OTHERS = "The encoders of this project brought recordings of their training along: choose one of them above."


def pair() -> tuple[Checkpoint, ...]:
    """The chosen encoder and the other one of its pair; only the chosen one if it has no pair, () if there is none."""
    name = choose_encoder()
    names = (encoders.pair(name) or (name,)) if name is not None else ()
    for other in names:
        if other != name:
            st.markdown(f"and its partner {plain(other)}", width="content")
    return tuple(map(Checkpoint, names))


def draw() -> None:
    part = PART.choose()
    controls, more = bar("controls")
    with controls:
        names = pair()
    try:
        if not names:
            st.info("There is no encoder of this kind to show.")
        elif names[0] in session_encoders.opened() and not cache.loaded(names[0]).history:
            st.info(f"{names[0]} comes from elsewhere: its folder does not say how it was trained. {_OTHERS}")
        elif part == RECORDING:
            draw_player(names, controls, more)
        else:
            draw_histories(names, controls)
    except (ValueError, OSError) as error:
        st.info(f"This cannot be shown: {plain(str(error))}.")
