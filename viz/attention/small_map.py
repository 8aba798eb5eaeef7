"""A small overview of a large attention map, with a frame around the part that another figure shows."""

import altair as alt
import numpy as np

from ..builders.cells import chosen_frame
from ..builders.figure import Kwargs, VegaFigure, click_on, data, form, tip
from ..builders.palette import NEUTRAL, tiles
from ..builders.picture_marks import CHOOSE, pixel_x, pixel_y, whole_picture

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
    cells = {
        "query": query_indices[row],
        "key": key_indices[column],
        "left": cell_edges[column],
        "right": cell_edges[column] + _SIDE / _STEPS,
        "top": cell_edges[row],
        "bottom": cell_edges[row] + _SIDE / _STEPS,
        "said": [
            f"around query {query}, key {key}"
            for query, key in zip(query_indices[row], key_indices[column], strict=True)
        ],
    }
    queries, keys = shown
    frame = {
        "left": [keys.start * _SIDE / n_keys],
        "right": [keys.stop * _SIDE / n_keys],
        "top": [queries.start * _SIDE / n_queries],
        "bottom": [queries.stop * _SIDE / n_queries],
    }
    ((light, dark),) = tiles(pattern[None], tops=np.array([top]), at_most=_SIDE)
    return _chart_form().with_data(
        cells,
        frames={"picture": {"on_light": [light], "on_dark": [dark]}, "window": frame},
        width=_SIDE,
        height=_SIDE,
        description=f"All {n_queries} × {n_keys} weights, small; framed are queries {queries.start} to {queries.stop - 1} and keys "
        f"{keys.start} to {keys.stop - 1}",
    )


@form
def _chart_form() -> alt.TopLevelMixin:
    window_box: Kwargs = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("top"), "y2": "bottom:Q"}
    border = alt.Chart(data("picture")).mark_rect(fill=None, stroke=NEUTRAL, strokeWidth=0.5)
    whole_map = {"x": alt.value(0), "x2": alt.value(_SIDE), "y": alt.value(0), "y2": alt.value(_SIDE)}
    window = chosen_frame(alt.Chart(data("window")).encode(**window_box))
    click_area = alt.Chart(data()).mark_rect(fill="transparent", cursor="pointer")
    click_area = click_area.encode(**window_box, description="said:N", tooltip=[tip("said:N", title="show")])
    return alt.layer(
        whole_picture("picture", aspect=False).transform_calculate(url=CHOOSE),
        border.encode(**whole_map),
        *window,
        click_area.add_params(click_on("place", "query", "key")),
    ).properties(autosize="pad")
