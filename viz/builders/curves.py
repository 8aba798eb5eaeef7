"""Line charts: lines and points over a number or over stages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from .chart import Column, Layer, layer
from .figure import Kwargs
from .number_format import THIN_PERCENT
from .palette import ACCENT

CHOSEN = "chosen"  # the frame of the place that `rule` marks
WHOLE = alt.Axis(tickMinStep=1, format="d", grid=False)  # an axis of whole numbers

Series = Mapping[str, tuple[Iterable, Iterable]]  # by kind: x values and y values


def long_columns(series: Series, kind: Column, x: Column, y: Column) -> list[Column]:
    """These columns in long form: a row for each value of the `series`; what they hold before is left out."""
    rows = [
        (name, x_value, y_value)
        for name, pairs in series.items()
        for x_value, y_value in zip(*pairs, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=[kind.name, x.name, y.name])
    return [column._replace(values=frame[column.name].to_numpy()) for column in (kind, x, y)]


def encodings_by_kind(
    field: str, kinds: Sequence[str], *, legend: Kwargs | None = None, **ranges: Sequence
) -> Kwargs:
    """Channels, such as colour, shape and dash, that distinguish the `kinds` in `field` (as in "side:N").

    `ranges` holds the values of each channel in the order of `kinds`. All channels share one legend above the curves.
    """
    legend_above = alt.Legend(**{"title": None, "orient": "top", "labelLimit": 0, **(legend or {})})
    channels = {"color": alt.Color, "shape": alt.Shape, "strokeDash": alt.StrokeDash}
    scales = {
        name: alt.Scale(domain=list(kinds), range=list(colours[: len(kinds)]))
        for name, colours in ranges.items()
    }
    return {name: channels[name](field, scale=scale, legend=legend_above) for name, scale in scales.items()}


_MOST_UPRIGHT = 6  # names of stages that stand beside each other without being slanted


def stage_axis(stages: Sequence[str], title: str, **options: Any) -> alt.X:
    """The x channel of the column `stage`, whose axis names the `stages` in this order; many names are slanted."""
    axis = alt.Axis(labelAngle=-45 if len(stages) > _MOST_UPRIGHT else 0, labelOverlap="greedy")
    return alt.X("stage:N", sort=list(stages), title=title, axis=axis, **options)


def probability_axis() -> Kwargs:
    """Options of an axis for a probability, from 0 to 1."""
    axis = alt.Axis(format="%", labelExpr=THIN_PERCENT, values=[0, 0.25, 0.5, 0.75, 1])
    return {"scale": alt.Scale(domain=[0, 1]), "axis": axis}


def rule(field: str, tooltip: Any = None, **mark: Any) -> Layer:
    """A vertical line at the value of `field` in the data frame named `CHOSEN`."""
    style: Kwargs = {"color": ACCENT, "strokeWidth": 2.5, "aria": False, **mark}
    channels: Kwargs = {"x": f"{field}:Q"} | ({"tooltip": tooltip} if tooltip else {})
    return layer("rule", channels, CHOSEN, **style)
