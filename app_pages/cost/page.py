"""Cost: what an encoder of any size costs, and how four kinds of layer grow with the length of the sequence."""

import streamlit as st

from app_pages.controls.cost_controls import LAYERS, PART
from app_pages.cost.counted import draw_parts, draw_totals
from app_pages.cost.measured import draw_measured
from app_pages.cost.published import draw_published
from app_pages.cost.sizes import choose_config, fixed_properties_sentence

if PART.choose() == LAYERS:
    draw_measured()
else:
    config = choose_config()
    if config is not None:
        draw_totals(config)
        draw_parts(config)
        st.caption(fixed_properties_sentence(config))
    draw_published()
