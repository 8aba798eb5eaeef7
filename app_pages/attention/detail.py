"""One pattern over the input: the input in the colours of one query, and all weights as a matrix or as lines."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from app_pages.attention.strongest_keys import strongest_keys
from app_pages.attention.window import choose_window, window
from app_pages.controls.attention_controls import MATRIX
from app_pages.controls.head_choice import HeadChoice, step, take_query
from app_pages.controls.map_controls import ALL_QUERIES
from app_pages.show.input_in_colours import input_in_colours
from app_pages.show.show import clickable, show
from app_pages.subject.subject import Subject
from app_pages.toolkit.gestures import arrow_keys, row_clicks
from app_pages.toolkit.markdown import plain
from model.record import AttentionRecord
from viz.attention.head_view import weight_lines
from viz.attention.token_heatmaps import weight_heatmap
from viz.builders.number_format import percent
from viz.builders.palette import WeightScale


def text_detail(
    subject: Subject,
    chosen: HeadChoice,
    record: AttentionRecord,
    pattern: np.ndarray,
    *,
    query: int,
    scale: WeightScale,
    view: str,
    notes: Sequence[str],
) -> None:
    """Figures of `pattern` [query, key]; a click on a token in them, or on a row, makes it the query.

    Their `notes` say what was done to the weights, where anything was.
    """
    input_in_colours(
        subject.given,
        record,
        pattern[query],
        key="strip",
        query=query,
        scale=scale,
        legend=False,
        notes=notes,
    )
    with st.container(horizontal=True, gap="small"):
        with st.container(key="weights"):
            shown = None
            if view == MATRIX:
                shown = window(pattern, query)
                _matrix(chosen, record, pattern, query, scale, shown, notes)
            else:
                _lines(record, pattern, query, scale, notes)
        with st.container(width=190):
            strongest_keys(record, pattern[query], query, chosen.lens)
            if shown is not None:
                choose_window(pattern, shown, scale)


def picture_detail(
    subject: Subject,
    chosen: HeadChoice,
    record: AttentionRecord,
    pattern: np.ndarray,
    *,
    query: int,
    scale: WeightScale,
    notes: Sequence[str],
) -> None:
    """Figures of `pattern` [query, key]; a click on a patch, or on a row, makes it the query."""
    if notes:
        st.caption("  \n".join(map(plain, notes)))
    with st.container(horizontal=True):
        with st.container(key="patches"):
            input_in_colours(
                subject.given,
                record,
                pattern[query],
                key="overlay",
                query=query,
                scale=scale,
                whole=subject.record,
            )
            for at in record.at("class"):
                st.button(
                    "Back to the class token",
                    key="to_class",
                    on_click=take_query,
                    args=(at,),
                    disabled=query == at,
                )
        with st.container(key="map"):
            _matrix(chosen, record, pattern, query, scale, None, notes)


def _matrix(
    chosen: HeadChoice,
    record: AttentionRecord,
    pattern: np.ndarray,
    query: int,
    scale: WeightScale,
    shown: tuple[range, range] | None,
    notes: Sequence[str],
) -> None:
    figure = weight_heatmap(
        pattern,
        record.tokens,
        query=query,
        mask=record.mask[chosen.layer, chosen.head],
        scale=scale,
        window=shown,
        keys=record.keys and record.keys.tokens,
        numbers=record.numbers,
        notes=notes,
    )
    with st.container(key="matrix_place"):
        show(figure, key="matrix", height="stretch")
        rows = range(len(record)) if shown is None else shown[0]
        row_clicks("matrix_place", len(rows), lambda row: take_query(record.number(rows[row])))
        arrow_keys("matrix_place", step)


def _lines(
    record: AttentionRecord, pattern: np.ndarray, query: int, scale: WeightScale, notes: Sequence[str]
) -> None:
    every = ALL_QUERIES.choose()
    view = weight_lines(record, pattern, query=None if every else query, scale=scale, notes=notes)
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
    arrow_keys("lines", step)
