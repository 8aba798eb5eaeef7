"""Attention: every head on one input, and the chosen one in detail."""

import streamlit as st

from app_pages import address, state
from app_pages.attention.detail import picture_detail, text_detail
from app_pages.widgets.head_choice import choose_head, choose_query, overview
from app_pages.widgets.masked_tokens import masked_tokens
from app_pages.widgets.measures_note import measures_note
from app_pages.widgets.prediction import prediction
from model.measures.heads import over_heads

HEAD, MEAN, MAXIMUM = "this head", "mean", "maximum"

chosen = choose_head(state.selection())
layer, head = chosen.layer, chosen.head
record = state.record(chosen.checkpoint, chosen.given)

with chosen.top:
    prediction(record, chosen.label, key="probabilities")
    masked_tokens(chosen)

with st.container(horizontal=True, gap="medium"):
    # As wide as the overview is; of few heads, as the line above it needs.
    with st.container(width=max(240, 54 + min(76 * record.config.n_heads, 612))):
        overview(chosen.checkpoint, chosen.given, selected=(layer, head), scale=chosen.scale, key="overview")
        measures_note(record.units)
    with st.container(key="detail"):
        with st.container(horizontal=True):
            part = address.row(
                "Show",
                (HEAD, MEAN, MAXIMUM),
                key="part",
                help="The chosen head, or at each cell the mean or the maximum over all heads of its layer.",
            )
            query = choose_query(record)
        if part == HEAD:
            pattern, title = record.pattern[layer, head], f"L{layer} H{head}"
        else:
            pattern, title = over_heads(record.pattern[layer], part), f"L{layer}, {part} over its heads"
        scale = chosen.weights_to("this map's own maximum", pattern)
        detail = text_detail if record.unit == "token" else picture_detail
        detail(chosen, record, pattern, query=query, scale=scale, title=title)
