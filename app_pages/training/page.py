"""Training: how the shipped encoders came to be what they are, played from what their runs recorded."""

import streamlit as st

from app_pages import address, state
from app_pages.training.histories import histories
from app_pages.training.player import player
from app_pages.widgets.warmup_runs import stored_runs

FILM, HISTORIES, WARMUP = "film", "histories", "with and without warm-up"

name = address.held("checkpoint")
names = (state.pair(name) or (name,)) if name is not None else ()
part = address.row("Show", (FILM, HISTORIES, WARMUP), key="training")
try:
    if part == WARMUP:
        stored_runs(key="warmup")
    elif not names:
        st.info("Choose a checkpoint in the sidebar, and its training shows itself here.")
    elif part == FILM:
        player(names)
    else:
        histories(names)
except (ValueError, OSError) as error:
    st.info(f"This cannot be shown: {error}.")
