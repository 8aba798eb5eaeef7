"""One pattern over the input: the input in the colours of one query, and all weights as a matrix or as lines."""

import numpy as np
import streamlit as st

from app_pages import address
from app_pages.state import HeadSelection
from app_pages.widgets.head_choice import take_query
from app_pages.widgets.input_in_colours import input_in_colours
from app_pages.widgets.show import clickable, show
from model.record import ForwardRecord
from viz.attention.head_view import head_view
from viz.attention.token_heatmaps import attention_heatmap
from viz.numbers import percent
from viz.palette import WeightScale

MATRIX, LINES = "matrix", "lines"


def text_detail(
    chosen: HeadSelection,
    record: ForwardRecord,
    pattern: np.ndarray,
    *,
    query: int,
    scale: WeightScale,
    title: str,
) -> None:
    """Figures of `pattern` [query, key]; a click on a token in them makes it the query."""
    input_in_colours(chosen.given, record, pattern[query], query=query, scale=scale, key="strip")
    if address.row("All weights as", (MATRIX, LINES), key="view") == MATRIX:
        _matrix(chosen, record, pattern, query, scale, title)
    else:
        _lines(record, pattern, query, scale)


def picture_detail(
    chosen: HeadSelection,
    record: ForwardRecord,
    pattern: np.ndarray,
    *,
    query: int,
    scale: WeightScale,
    title: str,
) -> None:
    """Figures of `pattern` [query, key]; a click on a patch makes it the query."""
    with st.container(horizontal=True):
        with st.container(width=420):
            input_in_colours(chosen.given, record, pattern[query], query=query, scale=scale, key="overlay")
            for at in record.at("class"):
                at_class = {"on_click": take_query, "args": (at,), "disabled": query == at}
                st.button("Back to the class token", key="to_class", **at_class)
        with st.container(key="map"):
            _matrix(chosen, record, pattern, query, scale, title)


def _matrix(
    chosen: HeadSelection,
    record: ForwardRecord,
    pattern: np.ndarray,
    query: int,
    scale: WeightScale,
    title: str,
) -> None:
    mask = record.mask[chosen.layer, chosen.head]
    figure = attention_heatmap(pattern, record.tokens, mask=mask, query=query, scale=scale, title=title)
    show(figure, key="matrix")


def _lines(record: ForwardRecord, pattern: np.ndarray, query: int, scale: WeightScale) -> None:
    every = address.toggle("Lines of all queries", True, key="all_queries")
    view = head_view(pattern, record.tokens, query=None if every else query, scale=scale)
    if view.n_lines < view.n_all:
        drawn = f"The strongest {view.n_lines:,} of {view.n_all:,} lines"
        st.caption(f"{drawn}; they hold {percent(view.share, 0)} of the weight in this figure.")
    clickable(
        view.chart,
        key="lines",
        chosen=query,
        selection="token",
        take=lambda token: take_query(token["position"]),
    )
