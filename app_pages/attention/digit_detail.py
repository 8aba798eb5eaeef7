"""One pattern over a digit: the attention of one query on the picture, and all weights as a matrix."""

import numpy as np
import streamlit as st

from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import take_query
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.show import show
from model.record import ForwardRecord
from viz.attention.token_heatmaps import attention_heatmap


def digit_detail(
    chosen: HeadSelection, record: ForwardRecord, pattern: np.ndarray, *, query: int, title: str
) -> None:
    """Figures of `pattern` [query, key]; a click on a patch makes it the query."""
    with st.container(horizontal=True):
        with st.container(width=420):
            input_in_colours(
                chosen.given, record, pattern[query], query=query, scale=chosen.scale, key="overlay"
            )
            if record.has_class_token:
                st.button(
                    "Back to the class token",
                    key="to_class",
                    on_click=take_query,
                    args=(0,),
                    disabled=query == 0,
                )
        with st.container(key="map"):
            mask = record.mask[chosen.layer, chosen.head]
            figure = attention_heatmap(
                pattern, record.tokens, mask=mask, query=query, scale=chosen.scale, title=title
            )
            show(figure, key="matrix")
