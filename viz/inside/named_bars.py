"""Horizontal bars of named values: with outlines of what they were before, or in columns, each on its own scale."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, value
from ..builders.number_format import format_number
from ..builders.palette import FALLS, NEUTRAL, RISES
from ..builders.theme import INK, MIDDLE, SMALL
from .vector_rows import names_channel

_ROW = 24  # pixels a bar
_ROOM = 0.16  # beside the bars, for their numbers, as a share of their reach


def value_bars(
    values: Mapping[str, float], *, what: str, before: Mapping[str, float], was: str
) -> VegaFigure:
    """Bars of `values` by name, coloured by sign, with their numbers; `what` is the title of the axis.

    Outlines show what each value was `before`; `was` is the name of the outlines.
    """
    numbers = np.array(list(values.values()), float)
    earlier = np.array([before[name] for name in values], float)
    both = np.concatenate([numbers, earlier])
    lowest, highest = float(both.min(initial=0)), float(both.max(initial=0))
    if lowest == highest:
        highest = 1.0
    margin = (highest - lowest) * _ROOM
    # The number stands beside the longer of the two bars, on the side to which that points.
    furthest = np.where(np.abs(numbers) >= np.abs(earlier), numbers, earlier)
    columns = [
        Column("name", list(values), "row"),
        Column("value", numbers, what, ".6~g", what),
        Column("before", earlier, was, ".6~g", was),
    ]
    axis = alt.Axis(
        orient="top",
        title=f"{what}; outlined: {was}",
        titleAnchor="start",
        titleFontWeight="normal",
        labelPadding=6,
        grid=False,
        tickCount=5,
    )
    scale = alt.Scale(domain=[value("low"), value("high")], nice=False)
    row = {"y": names_channel(paddingInner=0.2)}
    bar = row | {"x": alt.X("value:Q", scale=scale, axis=axis)}
    whole = {"x": alt.value(0), "x2": alt.value(alt.expr("width"))}
    return chart(
        columns,
        layer(
            "bar", bar | {"fill": either("datum.value < 0", FALLS, RISES)}, height={"band": 0.72}, aria=False
        ),
        layer("bar", row | {"x": "before:Q"}, fill=None, stroke=NEUTRAL, strokeWidth=1, aria=False),
        layer(
            "text",
            row | {"x": "at:Q", "text": "number:N"},
            align=alt.expr("datum.left ? 'right' : 'left'"),
            dx=alt.expr("datum.left ? -5 : 5"),
            baseline="middle",
            fontSize=MIDDLE,
            color=INK,
            aria=False,
        ),
        # On top and clear: the pointer anywhere in a row shows its numbers.
        layer("rect", row | whole | {"description": "name:N", "tooltip": columns}, fill="transparent"),
        drawing={
            "number": [format_number(number, "#.3g") for number in numbers],
            "at": furthest,
            "left": furthest < 0,
        },
        values={
            "rows": list(values),
            "chosen": "",
            "low": lowest - margin * (lowest < 0),
            "high": highest + margin,
        },
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(values), 1) * _ROW,
        description=f"{what} of {', '.join(list(values)[:12])}: {len(values)} bars",
    )


_BARS, _NUMBERS = 0.62, 0.94  # of a column: where its bars end, and the right edge of its numbers


def factor_bars(columns: Mapping[str, np.ndarray], names: Sequence[str]) -> VegaFigure:
    """For each column a bar for each of `names`, from the column's own zero, coloured by sign, with its number.

    `columns` maps the titles of the columns to their values [name].
    """
    numbers = np.array(list(columns.values()), float).reshape(len(columns), len(names))
    lowest, highest = numbers.min(axis=1, initial=0), numbers.max(axis=1, initial=0)
    # A column is 1 wide.
    scale = (_BARS / np.where(highest > lowest, highest - lowest, 1))[:, None]
    index = np.arange(len(columns))[:, None]
    zero = np.broadcast_to(index - lowest[:, None] * scale, numbers.shape)
    drawn = [
        Column("name", list(names) * len(columns), "row"),
        Column("column", np.repeat(np.array(list(columns), object), len(names))),
        Column("value", numbers, format=".5~g"),
    ]
    axis = alt.Axis(
        orient="top",
        title=None,
        values=value("ticks"),
        labelExpr="titles[floor(datum.value)]",
        labelFontSize=SMALL,
        labelPadding=6,
        labelOverlap=False,
        ticks=False,
        domain=False,
        grid=False,
    )
    base = {"y": names_channel(paddingInner=0.2), "tooltip": drawn}
    bar = {
        "x": alt.X("zero:Q", scale=alt.Scale(domain=[0, value("end")], nice=False), axis=axis),
        "x2": "tip:Q",
        "fill": either("datum.value < 0", FALLS, RISES),
    }
    text: Kwargs = {"align": "right", "baseline": "middle", "fontSize": MIDDLE, "color": INK, "aria": False}
    return chart(
        drawn,
        layer("bar", base | bar, height={"band": 0.72}, aria=False),
        layer("text", base | {"x": "edge:Q", "text": "number:N"}, **text),
        drawing={
            "zero": zero,
            "tip": zero + numbers * scale,
            "edge": np.broadcast_to(index + _NUMBERS, numbers.shape),
            "number": [format_number(number, "#.3g") for number in numbers.flat],
        },
        values={
            "rows": list(names),
            "chosen": "",
            "titles": list(columns),
            "ticks": (np.arange(len(columns)) + _BARS / 2).tolist(),
            "end": len(columns),
        },
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(names), 1) * _ROW,
        description=f"{', '.join(columns)} of {', '.join(list(names)[:12])}: {len(names)} rows of bars",
    )
