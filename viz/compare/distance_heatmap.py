"""Distances between each head of one encoder and each head of another, with the matched pairs marked."""

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column, layer
from ..builders.figure import Kwargs, VegaFigure, value
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
        [head_name(*divmod(index, heads_a_layer)) for index in range(n_rows)]
        for n_rows, heads_a_layer in zip(distances.shape, n_heads, strict=True)
    )
    is_matched = np.asarray(partners)[row] == column
    step = int(np.clip(_SIDE // max(*distances.shape, 1), _SMALLEST, _LARGEST))
    axis = BARE_AXIS | {"labelOverlap": True, "labelFlush": False}
    x_axis = alt.Axis(orient="top", labelAngle=-90, **axis)
    x = alt.X("second:N", sort=None, title=names[1], axis=x_axis)
    y = alt.Y("first:N", sort=None, title=names[0], axis=alt.Axis(**axis))
    ring: Kwargs = {
        "shape": "circle",
        "size": value("ring"),
        "filled": False,
        "stroke": INK,
        "strokeWidth": 2,
    }
    return grid(
        [
            Column("first", [row_names[index] for index in row], names[0], in_file="head"),
            Column("second", [column_names[index] for index in column], names[1], in_file="other head"),
            Column("distance", distances, "distance (nats)", ".4f"),
            Column("matched", is_matched, None),
            Column("paired", np.where(is_matched, "one of the pairs", "none"), "pair", in_file=None),
            Column(
                "name",
                [
                    f"{row_names[first]} and {column_names[second]}"
                    for first, second in np.ndindex(distances.shape)
                ],
                None,
            ),
        ],
        x,
        y,
        largest=float(distances.max(initial=0)) or 1.0,
        signed=False,
        colour_of="distance",
        legend=colour_legend("head distance (nats), 0 to the largest here", ENDS, format=".3f"),
        click=("pair", "one", "other"),
        selected=is_matched & (row == selected),
        borders=(4, 0.3),
        between=[layer("point", {"x": x, "y": y}, where="datum.matched", aria=False, **ring)],
        last=None,  # the order of the rows is that on the axes
        drawing={"one": row, "other": column},
        values={"ring": (0.6 * step) ** 2},
        width=step * distances.shape[1],
        height=step * distances.shape[0],
        description=f"Distances of the {len(row_names)} heads of {names[0]} from the {len(column_names)} of {names[1]}",
    )
