"""Cost: what an encoder of any size costs, and how four kinds of layer grow with the length of the sequence."""

import streamlit as st

from app_pages.controls.cost_controls import LAYERS, PART, PUBLISHED
from app_pages.cost.counted import by_part, totals
from app_pages.cost.measured import measured
from app_pages.cost.published import published
from app_pages.cost.sizes import choose_config, described

part = PART.choose()
if part == LAYERS:
    measured()
else:
    config = choose_config()
    if config is not None:
        totals(config)
    if part == PUBLISHED:
        published()
    elif config is not None:
        by_part(config)
    if config is not None:
        st.caption(described(config))
