"""The keys with the largest weights of the chosen query, in numbers."""

from html import escape

import numpy as np
import streamlit as st

from model.lenses import ATTENTION, Lens
from model.record import AttentionRecord, Positions
from viz.builders.heatmap import position_labels
from viz.builders.number_format import format_number

MOST = 8


def strongest_keys(record: AttentionRecord, weights: np.ndarray, query: int, lens: Lens) -> None:
    """The largest of `weights` [key], and how much of the row they hold."""
    order = np.argsort(-weights, kind="stable")[:MOST].tolist()
    keys, queries = _names(record.attended), _names(record)
    rows = "".join(
        f"<tr><td>{escape(keys[key])}</td><td>{format_number(float(weights[key]), '.3f')}</td></tr>"
        for key in order
    )
    held = format_number(float(weights[order].sum()), ".3f")
    what = " attends to" if lens.name == ATTENTION else f": {lens.quantity}"
    total = (
        ""
        if len(order) == len(weights)
        else f"<tr><td><small>sum of these {MOST}</small></td><td>{held}</td></tr>"
    )
    st.html(
        f'<table class="strongest"><caption>“{escape(queries[query])}”{what}</caption>{rows}{total}</table>'
    )


def _names(read: Positions) -> list[str]:
    """As beside the matrix: a token that occurs more than once carries its position."""
    return position_labels(read.tokens, [read.number(position) for position in range(len(read.tokens))])
