"""Distances between each head of one encoder and each head of another, with the matched pairs marked."""

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, cells
from ..builders.figure import VegaFigure, click_on, data, form, tip, value
from ..builders.number_format import head_name
from ..builders.theme import INK
from ..builders.vega_colours import ENDS, colour_legend

_SIDE = 540  # pixels of the longer side, while a cell stays between the smallest and the largest
_SMALLEST, _LARGEST = 10, 26


def distance_heatmap(
    distances: np.ndarray,
    partners: np.ndarray,
    *,
    n_heads: tuple[int, int],
    names: tuple[str, str],
    selected: int | None,
) -> VegaFigure:
    """A heatmap of distances [head of the first, head of the second] in nats; heads are numbered layer by layer,
    `n_heads` in a layer.

    `partners` holds, for each head of the first encoder, the number of its partner (-1: none). The cells of pairs have
    rings, and that of the head `selected` has a frame. A click on a cell sets the point selection `pair`, fields `one`
    and `other`.
    """
    row, column = np.indices(distances.shape).reshape(2, -1)
    row_names, column_names = (
        np.array([head_name(*divmod(index, heads_a_layer)) for index in range(n_rows)], dtype=object)
        for n_rows, heads_a_layer in zip(distances.shape, n_heads, strict=True)
    )
    row_name, column_name, is_matched = (
        row_names[row],
        column_names[column],
        np.asarray(partners)[row] == column,
    )
    frame = {
        "one": row,
        "other": column,
        "first": row_name,
        "second": column_name,
        "distance": distances.ravel().astype(float),
        "matched": is_matched,
        "paired": np.where(is_matched, "one of the pairs", "none"),
        "name": row_name + " and " + column_name,
        "selected": is_matched & (row == selected),
    }
    step = int(np.clip(_SIDE // max(*distances.shape, 1), _SMALLEST, _LARGEST))
    return _chart_form(*names).with_data(
        frame,
        in_file={"one": None, "other": None, "first": "head", "second": "other head", "paired": None},
        values={"largest": float(distances.max(initial=0)) or 1.0, "ring": (0.6 * step) ** 2},
        width=step * distances.shape[1],
        height=step * distances.shape[0],
        description=f"Distances of the {len(row_names)} heads of {names[0]} from the {len(column_names)} of {names[1]}",
    )


@form
def _chart_form(row_title: str, column_title: str) -> alt.TopLevelMixin:
    axis = BARE_AXIS | {"labelOverlap": True, "labelFlush": False}
    rings = alt.Chart(data()).transform_filter("datum.matched")
    rings = rings.mark_point(
        shape="circle", size=value("ring"), filled=False, stroke=INK, strokeWidth=2, aria=False
    )
    return cells(
        alt.X("second:N", sort=None, title=column_title, axis=alt.Axis(orient="top", labelAngle=-90, **axis)),
        alt.Y("first:N", sort=None, title=row_title, axis=alt.Axis(**axis)),
        tooltip=[
            tip("first:N", title=row_title),
            tip("second:N", title=column_title),
            tip("distance:Q", ".4f", "distance (nats)"),
            tip("paired:N", title="pair"),
        ],
        signed=False,
        field="distance",
        text=None,
        legend=colour_legend("head distance (nats), 0 to the largest here", ENDS, format=".3f"),
        selectable=click_on("pair", "one", "other"),
        borders=(4, 0.3),
        between=[rings],
    ).properties(autosize="pad")
