"""A small overview of a large attention map, with a frame around the part that another figure shows."""

import altair as alt
import numpy as np

from ..builders.cells import frame_layers
from ..builders.chart import Column, chart, layer
from ..builders.figure import VegaFigure
from ..builders.palette import NEUTRAL, tiles
from ..builders.picture_marks import CHOOSE, PIXEL_BOX, whole_picture

_SIDE = 168  # pixels
_STEPS = 12  # places that a click can choose, either way


def small_map(pattern: np.ndarray, *, shown: tuple[range, range], top: float = 1.0) -> VegaFigure:
    """A small map of a pattern [query, key], with a frame around the ranges of queries and keys in `shown`.

    The colour scale ends at the weight `top`; each pixel shows the largest weight within it. A click sets the point
    selection `place` to the `query` and the `key` at the clicked point.
    """
    n_queries, n_keys = (max(n_tokens, 1) for n_tokens in pattern.shape)
    cell_centres = (np.arange(_STEPS) + 0.5) / _STEPS
    query_indices, key_indices = (cell_centres * n_queries).astype(int), (cell_centres * n_keys).astype(int)
    cell_edges = np.arange(_STEPS) * _SIDE / _STEPS
    row, column = np.indices((_STEPS, _STEPS)).reshape(2, -1)
    said = [
        f"around query {query}, key {key}"
        for query, key in zip(query_indices[row], key_indices[column], strict=True)
    ]
    columns = [
        Column("query", query_indices[row], None),
        Column("key", key_indices[column], None),
        Column("said", said, "show", in_file=None),
    ]
    queries, keys = shown
    frame = {
        "left": [keys.start * _SIDE / n_keys],
        "right": [keys.stop * _SIDE / n_keys],
        "top": [queries.start * _SIDE / n_queries],
        "bottom": [queries.stop * _SIDE / n_queries],
    }
    ((light, dark),) = tiles(pattern[None], tops=np.array([top]), at_most=_SIDE)
    whole_map = {"x": alt.value(0), "x2": alt.value(_SIDE), "y": alt.value(0), "y2": alt.value(_SIDE)}
    cell = PIXEL_BOX | {"description": "said:N", "tooltip": columns}
    return chart(
        columns,
        whole_picture("picture", calculate={"url": CHOOSE}, aspect=False),
        layer("rect", whole_map, "picture", fill=None, stroke=NEUTRAL, strokeWidth=0.5),
        *frame_layers(PIXEL_BOX, "window"),
        layer("rect", cell, fill="transparent", cursor="pointer", click=("place", "query", "key")),
        drawing={
            "left": cell_edges[column],
            "right": cell_edges[column] + _SIDE / _STEPS,
            "top": cell_edges[row],
            "bottom": cell_edges[row] + _SIDE / _STEPS,
        },
        frames={"picture": {"on_light": [light], "on_dark": [dark]}, "window": frame},
        width=_SIDE,
        height=_SIDE,
        autosize="pad",
        description=f"All {n_queries} × {n_keys} weights, small; framed are queries {queries.start} to {queries.stop - 1} and keys "
        f"{keys.start} to {keys.stop - 1}",
    )
