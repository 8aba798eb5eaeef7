"""One pattern over a text: the sentence in the colours of one query, and all weights as a matrix or as lines."""

import numpy as np
import streamlit as st

from app_pages.state import Selection
from app_pages.widgets.choice import choice
from app_pages.widgets.clickable import clickable
from app_pages.widgets.head_choice import take_query
from model.record import ForwardRecord
from viz.attention.attention_heatmap import attention_heatmap
from viz.attention.head_view import head_view
from viz.attention.token_strip import token_strip

MATRIX, LINES = "matrix", "lines"
LONG, HEIGHT = 80, 400  # a sentence of more tokens scrolls in so many pixels: the rest must not be far below


def text_detail(
    chosen: Selection, record: ForwardRecord, pattern: np.ndarray, *, query: int, title: str
) -> None:
    """Figures of `pattern` [query, key]; a click on a token in them makes it the query."""
    strip = token_strip(record.tokens, pattern[query], query=query, scale=chosen.scale)
    with st.container(height=HEIGHT if len(record.tokens) > LONG else "content", border=False):
        clickable(strip, key="strip", chosen=query, selection="token", take=_take_token)
    if choice("All weights as", (MATRIX, LINES), key="view") == MATRIX:
        mask = record.mask[chosen.layer, chosen.head]
        figure = attention_heatmap(
            pattern, record.tokens, mask=mask, query=query, scale=chosen.scale, title=title
        )
        st.plotly_chart(figure, key="matrix")
    else:
        _lines(chosen, record, pattern, query)


def _lines(chosen: Selection, record: ForwardRecord, pattern: np.ndarray, query: int) -> None:
    every = st.toggle(
        "Lines of all queries", True, key="all_queries", bind="query-params", persist_state="session"
    )
    view = head_view(pattern, record.tokens, query=None if every else query, scale=chosen.scale)
    if view.n_lines < view.n_all:
        drawn = f"The strongest {view.n_lines:,} of {view.n_all:,} lines"
        st.caption(f"{drawn}; they hold {view.share:.0%} of the weight in this figure.")
    clickable(view.chart, key="lines", chosen=query, selection="token", take=_take_token)


def _take_token(point: dict) -> None:
    take_query(point["position"])
