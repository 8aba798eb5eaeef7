"""Distances of paired heads, on one input and over a data set."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, need_shape, value
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL

_STEP, _WIDTH = 18, 400  # pixels a pair, and across


def pair_spread(
    names: Sequence[str],
    here: np.ndarray,
    mean: np.ndarray,
    sd: np.ndarray,
    *,
    ones: Sequence[int],
    others: Sequence[int],
    selected: int | None,
) -> VegaFigure:
    """A row for each pair of heads, the most distant first: mean ± standard deviation [pair] as a bar, this input as a
    dot.

    `ones` and `others` are the numbers of the first and of the second heads; the pair whose first head is `selected` is
    marked. A click on a row sets the point selection `pair`, fields `one` and `other`. Raises ValueError where the
    shapes do not fit each other.
    """
    n_pairs = len(names)
    need_shape((n_pairs,), here=here, mean=mean, sd=sd, ones=ones, others=others)
    order = np.argsort(-np.asarray(mean), kind="stable")
    mean, sd, here = (np.asarray(numbers, float)[order] for numbers in (mean, sd, here))
    columns = [
        Column("name", [names[index] for index in order], "pair", in_file="pair"),
        Column("here", here, "on this input", ".4f", "this input"),
        Column("mean", mean, "mean", ".4f"),
        Column("sd", sd, "standard deviation", ".4f", "standard deviation"),
    ]
    first = np.asarray(ones, int)[order]
    x_scale = alt.Scale(domain=[0, value("top")], nice=False)
    x: Kwargs = {"title": "head distance (nats)", "scale": x_scale, "axis": alt.Axis(tickCount=5)}
    y_axis = alt.Axis(ticks=False, domain=False, labelLimit=0, labelOverlap=False)
    row = {
        "y": alt.Y("name:N", title=None, scale=alt.Scale(domain=value("order")), axis=y_axis),
        "tooltip": columns,
    }
    dot = {"x": alt.X("here:Q", **x), "color": either("datum.selected", ACCENT, EMPHASIS)}
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
            "other": np.asarray(others, int)[order],
            "selected": first == (-1 if selected is None else selected),
        },
        values={
            "top": max([*here, *(mean + sd)], default=1.0) or 1.0,
            "order": [names[index] for index in order],
        },
        width=_WIDTH,
        height=_STEP * n_pairs,
        autosize="pad",
        description=f"Head distances of {n_pairs} pairs of heads, over a data set and on this input",
    )
