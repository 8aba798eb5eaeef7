"""Inside a head: one query's way through a block, number by number, and why it is built so."""

import streamlit as st

from app_pages import address, state
from app_pages.inside_a_head.layer_norm import layer_norm
from app_pages.inside_a_head.scale import why_the_scale
from app_pages.inside_a_head.sets import set_to_set
from app_pages.inside_a_head.steps import step_by_step
from app_pages.widgets.head_choice import choose_head
from app_pages.widgets.prediction import prediction

chosen = state.selection()
with chosen.top:
    prediction(state.record(chosen.checkpoint, chosen.given), chosen.label, key="probabilities")

PARTS = {
    "Step by step": lambda: step_by_step(choose_head(chosen), controls),
    "Why √d_k": lambda: why_the_scale(chosen, controls),
    "LayerNorm": lambda: layer_norm(choose_head(chosen, with_colours=False), controls),
    "Sets": lambda: set_to_set(choose_head(chosen, with_colours=False), controls),
}
controls = st.container(horizontal=True, vertical_alignment="bottom")
with controls:
    part = address.row("Look at", PARTS, key="inside")
PARTS[part]()
