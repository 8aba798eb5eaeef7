"""Distances between the heads of two encoders: of all pairs of heads on one input, and of the matched pairs over a
data set.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, conditional_value, value
from ..builders.number_format import head_name
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL
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
    """A heatmap of `distances` [head of the first encoder, head of the second] in nats; heads are counted layer by
    layer, `n_heads` in a layer of each encoder.

    `names` are those of the encoders. `partners` holds, for each head of the first encoder, the index of its matched
    head in the second (-1: none). The cells of matched pairs have rings, and the cell of the first encoder's head
    `selected` has a frame. A click on a cell sets the point selection `pair`, fields `one` and `other`.
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


_STEP, _WIDTH = 18, 400  # pixels a pair, and across


def pair_spread(
    names: Sequence[str],
    this_input: np.ndarray,
    mean: np.ndarray,
    sd: np.ndarray,
    *,
    first_heads: Sequence[int],
    second_heads: Sequence[int],
    selected: int | None,
) -> VegaFigure:
    """A row for each matched pair of heads, the most distant first, with its distance in nats: mean ± standard
    deviation (`sd`) over a data set as a bar, and the distance on this input as a dot; all [pair].

    `first_heads` and `second_heads` are the indices of the two heads of each pair, counted layer by layer; the pair
    whose first head is `selected` is marked. A click on a row sets the point selection `pair`, fields `one` and
    `other`.
    """
    n_pairs = len(names)
    order = np.argsort(-np.asarray(mean), kind="stable")
    mean, sd, this_input = (np.asarray(numbers, float)[order] for numbers in (mean, sd, this_input))
    columns = [
        Column("name", [names[index] for index in order], "pair", in_file="pair"),
        Column("here", this_input, "on this input", ".4f", "this input"),
        Column("mean", mean, "mean", ".4f"),
        Column("sd", sd, "standard deviation", ".4f", "standard deviation"),
    ]
    first = np.asarray(first_heads, int)[order]
    x_scale = alt.Scale(domain=[0, value("top")], nice=False)
    x: Kwargs = {"title": "head distance (nats)", "scale": x_scale, "axis": alt.Axis(tickCount=5)}
    y_axis = alt.Axis(ticks=False, domain=False, labelLimit=0, labelOverlap=False)
    row = {
        "y": alt.Y("name:N", title=None, scale=alt.Scale(domain=value("order")), axis=y_axis),
        "tooltip": columns,
    }
    dot = {"x": alt.X("here:Q", **x), "color": conditional_value("datum.selected", ACCENT, EMPHASIS)}
    point: Kwargs = {"filled": True, "opacity": 1, "size": 60, "cursor": "pointer"}
    return chart(
        columns,
        layer("bar", row | {"x": alt.X("low:Q", **x), "x2": "high:Q"}, size=7, opacity=0.45, color=NEUTRAL),
        layer("tick", row | {"x": alt.X("mean:Q", **x)}, size=11, thickness=2, color=NEUTRAL),
        layer("point", row | dot, click=("pair", "one", "other"), **point),
        drawing={
            "low": np.maximum(mean - sd, 0),
            "high": mean + sd,
            "one": first,
            "other": np.asarray(second_heads, int)[order],
            "selected": first == (-1 if selected is None else selected),
        },
        values={
            "top": 1.1 * max([*this_input, *(mean + sd)], default=0)
            or 1.0,  # at its end is the menu of the figure
            "order": [names[index] for index in order],
        },
        width=_WIDTH,
        height=_STEP * n_pairs,
        autosize="pad",
        description=f"Head distances of {n_pairs} pairs of heads, over a data set and on this input",
    )
