"""Cost: what an encoder of any size costs, and how four kinds of layer grow with the length of the sequence."""

import streamlit as st

from app_pages.controls.control_bar import parts
from app_pages.cost.counted import by_part, totals
from app_pages.cost.measured import measured
from app_pages.cost.published import published
from app_pages.cost.sizes import choose_config, described

PARTS, PUBLISHED, LAYERS = "An encoder, part by part", "Table 3 of the paper", "Four kinds of layer, measured"

part = parts((PARTS, PUBLISHED, LAYERS), key="cost_show")
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
