"""Cost: what an encoder of any size costs, part by part, and the tables of the paper."""

import streamlit as st

from app_pages.cost.counted import choose_config, draw_parts, draw_totals, fixed_properties_sentence
from app_pages.cost.published import draw_kinds_of_layer, draw_variations


def draw() -> None:
    config = choose_config()
    if config is not None:
        draw_totals(config)
        draw_parts(config)
        st.caption(fixed_properties_sentence(config))
    draw_kinds_of_layer()
    draw_variations()
