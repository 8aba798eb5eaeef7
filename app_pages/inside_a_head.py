"""Inside a head: one query's way through a block, number by number, and why it is built so."""

import streamlit as st

from app_pages import state
from app_pages.sections.inside_a_head.layer_norm import layer_norm
from app_pages.sections.inside_a_head.scale import why_the_scale
from app_pages.sections.inside_a_head.sets import set_to_set
from app_pages.sections.inside_a_head.steps import step_by_step
from app_pages.widgets.choice import choice
from app_pages.widgets.head_choice import choose_head, choose_query
from app_pages.widgets.prediction import prediction

STEPS, SCALE, NORM, SETS = "Step by step", "Why √d_k", "LayerNorm", "Sets"

chosen = choose_head(state.selection())
record = state.record(chosen.checkpoint, chosen.given)

with chosen.top:
    prediction(record, chosen.label, key="probabilities")

controls = st.container(horizontal=True, vertical_alignment="bottom")
with controls:
    part = choice("Look at", (STEPS, SCALE, NORM, SETS), key="inside")
    query = choose_query(record.tokens, numbered=record.patch_grid is None)
if part == STEPS:
    step_by_step(chosen, query, controls)
elif part == SCALE:
    why_the_scale(chosen)
elif part == NORM:
    layer_norm(chosen)
else:
    set_to_set(chosen)
