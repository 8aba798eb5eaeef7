"""One pattern as a board, cell by cell, on which a click forbids a query a key, or allows it again."""

import json
from collections.abc import Sequence
from html import unescape

import altair as alt
import numpy as np
import pandas as pd

from viz.attention.attention_colour import attention_colour
from viz.attention.attention_heatmap import hatching
from viz.attention.token_axes import position_labels
from viz.palette import ACCENT, NEUTRAL, ColourScale

_SIDE = 410  # pixels of the board, while a cell stays between the smallest and the largest
_SMALLEST, _LARGEST = 7, 34
_LONGEST_LABEL = 90


def cell_board(
    pattern: np.ndarray, tokens: Sequence[str], *, mask: np.ndarray, query: int, scale: ColourScale = "own"
) -> alt.LayerChart:
    """Weights [query, key], queries from the top; what `mask` [query, key] forbids (False) is hatched.

    The row of `query` is framed. A click on a cell sets the point selection `cell`, fields `query`, `key` and
    `blocked`; the last lets a second click on a cell count. Raises ValueError where the shapes do not fit.
    """
    n = len(tokens)
    if pattern.shape != (n, n) or mask.shape != (n, n):
        raise ValueError(f"{n} tokens need {n}×{n} weights and mask, got {pattern.shape} and {mask.shape}")
    step = int(np.clip(_SIDE // max(n, 1), _SMALLEST, _LARGEST))
    queries, keys = np.indices((n, n)).reshape(2, -1)
    cells = pd.DataFrame(
        {"query": queries, "key": keys, "weight": pattern.ravel().astype(float), "blocked": ~mask.ravel()}
    )
    names = json.dumps([f"{place} {token}" for place, token in enumerate(tokens)])
    labels = [unescape(label) for label in position_labels(tokens)]  # Vega reads no HTML
    axis = {"labelExpr": f"{json.dumps(labels)}[datum.value]", "labelLimit": _LONGEST_LABEL}
    axis |= {"labelOverlap": "greedy", "ticks": False, "domain": False}
    board = (
        alt.Chart(cells)
        .transform_calculate(from_query=f"{names}[datum.query]", to_key=f"{names}[datum.key]")
        .transform_calculate(
            label="datum.from_query + ' to ' + datum.to_key + (datum.blocked ? ', masked' : '')"
        )
        .mark_rect(cursor="pointer")
        .encode(
            x=alt.X("key:O", title="key", axis=alt.Axis(orient="bottom", labelAngle=-90, **axis)),
            y=alt.Y("query:O", title="query", axis=alt.Axis(**axis)),
            color=attention_colour(pattern, scale, own="the largest of this map"),
            stroke=alt.value(NEUTRAL),
            strokeWidth=alt.when("datum.blocked").then(alt.value(2)).otherwise(alt.value(0.3)),
            description="label:N",
            tooltip=[
                alt.Tooltip("from_query:N", title="query"),
                alt.Tooltip("to_key:N", title="key"),
                alt.Tooltip("weight:Q", format=".4f", title="attention weight"),
                alt.Tooltip("blocked:N", title="masked"),
            ],
        )
        .add_params(
            alt.selection_point(name="cell", fields=["query", "key", "blocked"], toggle=False, clear=False)
        )
    )
    side = {"width": step * n, "height": step * n}
    hatched = (
        alt.Chart(alt.Data(values=[{"url": hatching(mask)}]))
        .mark_image(x=0, y=0, align="left", baseline="top", aspect=False, tooltip=None, aria=False, **side)
        .encode(url="url:N")
    )
    row = (
        alt.Chart(alt.Data(values=[{"query": query}]))
        .mark_bar(fill=None, stroke=ACCENT, strokeWidth=2, x=0, x2=step * n, tooltip=None, aria=False)
        .encode(y="query:O")
    )
    return alt.layer(board, hatched, row).properties(
        **side,
        autosize="pad",
        description=f"Attention of {n} queries to {n} keys; the row of query {query} is framed, "
        f"{(~mask).sum()} cells are masked",
    )
