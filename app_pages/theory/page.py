"""Theory: pre-LN against post-LN in untrained encoders, measured while one looks."""

import streamlit as st

from app_pages.controls.control_bar import bar, parts
from app_pages.theory.at_start import at_start
from app_pages.theory.controls import choose_depth, choose_seeds, choose_setting, choose_variants, formulas
from app_pages.theory.first_steps import first_steps
from app_pages.theory.warm_up import live_grid, over_seeds_of_small_encoders, stored_grid

AT_START, FIRST_STEPS, WARM_UP = "Before training", "First steps", "Learning rate and warm-up"

part = parts((AT_START, FIRST_STEPS, WARM_UP), key="theory_part", label="Untrained encoders")
controls, more = bar("controls")
with controls:
    variants = choose_variants()
    if part != WARM_UP:
        depth, seeds = choose_depth(), choose_seeds()
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
