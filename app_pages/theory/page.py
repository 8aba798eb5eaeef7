"""Theory: pre-LN against post-LN in untrained encoders, measured on demand."""

import streamlit as st

from app_pages.controls import theory_controls
from app_pages.controls.control_bar import bar
from app_pages.theory.at_start import draw_at_start
from app_pages.theory.first_steps import draw_first_steps
from app_pages.theory.formulas import formulas
from app_pages.theory.warm_up import draw_warm_up

part = theory_controls.PART.choose()
controls, more = bar("controls")
with controls:
    variants = theory_controls.PLACEMENTS.choose()
    depth, seeds = theory_controls.DEPTH.choose(), theory_controls.SEEDS.choose()
with more.popover("View", key="more"):
    variants += theory_controls.WITHOUT_RESIDUAL.choose()
    setting = theory_controls.choose_setting()

if not variants:
    st.info("Choose at least one placement of the norm.")
elif part == theory_controls.AT_START:
    draw_at_start(setting, variants, depth, seeds)
else:
    draw_first_steps(setting, variants, depth, seeds)
if part == theory_controls.FIRST_STEPS:
    draw_warm_up(variants)
st.markdown(formulas(variants))
