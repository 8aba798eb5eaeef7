"""How the opened encoder knows positions: it has one kind of them, or several."""

import streamlit as st

from app_pages.controls.control_bar import Slots
from app_pages.controls.positions_controls import OWN_KIND
from app_pages.positions.bias_by_distance import draw_bias
from app_pages.positions.checkpoint import draw_checkpoint_positions
from app_pages.positions.position_terms import draw_terms
from app_pages.positions.rotated_scores import draw_rotated_scores
from app_pages.positions.windows import draw_windows
from app_pages.subject import cache
from app_pages.subject.subject import LiveSubject
from model.experiments.position_kinds import position_kinds


def draw_this_encoder(subject: LiveSubject, slots: Slots) -> None:
    """Draws the figures of the encoder's kind of positions, with a row of buttons to choose one if it has several."""
    kinds = cache.of(position_kinds, subject.checkpoint)
    if not kinds:
        st.info(f"`{subject.checkpoint}` has no positions: to it, every order is the same.")
        return
    kind: str = kinds[0]
    if len(kinds) > 1:
        with slots.controls:
            kind = OWN_KIND.choose(kinds)
    draw = {
        "added": draw_checkpoint_positions,
        "rotated": draw_rotated_scores,
        "biased": draw_bias,
        "windowed": draw_windows,
        "causal": draw_windows,
        "disentangled": draw_terms,
    }[kind]
    draw(subject, slots)
