"""Theory: pre-LN against post-LN in untrained encoders, measured on demand."""

import streamlit as st

from app_pages.controls.control_bar import bar
from app_pages.controls.theory_controls import (
    AT_START,
    DEPTH,
    FIRST_STEPS,
    PART,
    PLACEMENTS,
    SEEDS,
    WARM_UP,
    choose_setting,
)
from app_pages.theory.at_start import at_start
from app_pages.theory.first_steps import first_steps
from app_pages.theory.formulas import formulas
from app_pages.theory.warm_up import live_grid, over_seeds_of_small_encoders, stored_grid

part = PART.choose()
controls, more = bar("controls")
with controls:
    variants = PLACEMENTS.choose()
    if part != WARM_UP:
        depth, seeds = DEPTH.choose(), SEEDS.choose()
if part != WARM_UP:
    with more.popover("View", key="more"):
        setting = choose_setting()

if part == WARM_UP:
    stored_grid()
    over_seeds_of_small_encoders()
if not variants:
    st.info("Choose at least one placement of the norm.")
elif part == AT_START:
    at_start(setting, variants, depth, seeds)
elif part == FIRST_STEPS:
    first_steps(setting, variants, depth, seeds)
else:
    live_grid(variants)
st.markdown(formulas(variants))
