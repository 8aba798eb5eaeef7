"""One pattern over a digit: the attention of one query on the picture, and all weights as a matrix."""

import numpy as np
import streamlit as st

from app_pages.state import DIGIT_SHAPE, Selection
from app_pages.widgets.clickable import clickable
from app_pages.widgets.head_choice import take_query
from model.record import ForwardRecord
from viz.attention.attention_heatmap import attention_heatmap
from viz.attention.digit_overlay import digit_overlay


def digit_detail(
    chosen: Selection, record: ForwardRecord, pattern: np.ndarray, *, query: int, title: str
) -> None:
    """Figures of `pattern` [query, key]; a click on a patch makes it the query."""
    first = int(record.has_class_token)  # position of the first patch
    with st.container(horizontal=True):
        with st.container(width=420):
            overlay = digit_overlay(
                np.frombuffer(chosen.given, np.uint8).reshape(DIGIT_SHAPE),
                pattern[query, first:],
                record.patch_grid,
                query=query - first if query >= first else None,
                scale=chosen.scale,
            )
            clickable(
                overlay,
                key="overlay",
                chosen=query,
                selection="patch",
                take=lambda patch: take_query(patch["position"] + first),
                width="content",
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
            st.plotly_chart(figure, key="matrix")
