"""Theory: pre-LN against post-LN on fresh encoders, measured while one looks."""

import streamlit as st

from app_pages import address
from app_pages.theory.at_start import at_start
from app_pages.theory.controls import choose_depth, choose_seeds, choose_setting, choose_variants, formulas
from app_pages.theory.first_steps import first_steps
from app_pages.theory.warm_up import live_grid, stored_grid

AT_START, FIRST_STEPS, WARM_UP = "before training", "first steps", "learning rate and warm-up"

with st.container(horizontal=True):
    part = address.row("Fresh encoders", (AT_START, FIRST_STEPS, WARM_UP), key="theory_part")
    variants = choose_variants()
if part != WARM_UP:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        depth, seeds = choose_depth(), choose_seeds()
        setting = choose_setting()
st.markdown(formulas(variants))

live = st.container()
if part == WARM_UP:
    stored_grid()  # before the live runs: after them it would stand below them faded, as long as they take
with live:
    if not variants:
        st.info("Choose at least one placement of the norm.")
    elif part == AT_START:
        at_start(setting, variants, depth, seeds)
    elif part == FIRST_STEPS:
        first_steps(setting, variants, depth, seeds)
    else:
        live_grid(variants)
