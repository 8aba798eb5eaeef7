"""Vectors as rows of coloured cells, with a total for each row at the right; and named values as horizontal bars,
with outlines of their earlier values, or in several columns with a scale of its own each.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import BARE_AXIS, frame_channels
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip, value
from ..builders.number_format import format_number
from ..builders.palette import FALLS, NEUTRAL, RISES
from ..builders.theme import INK, MIDDLE, SMALL
from ..builders.vega_colours import SIGNED_ENDS, colour, colour_legend

NAMES = 132  # pixels for the names of rows, the same in all charts: their columns stand below each other
_ROW = 26  # pixels a row
_TOTALS = 0.36  # their part of the chart beside the cells, as a share of what the cells take
_N_TICKS = 8
_BAR = 24  # pixels a bar
_ROOM = 0.16  # beside the bars, for their numbers, as a share of their reach


def vector_rows(
    rows: Mapping[str, np.ndarray],
    *,
    what: str,
    totals: Mapping[str, float] | None = None,
    total: str = "",
    groups: Sequence[str] = (),
    chosen: str = "",
    numbered: str = "component",
) -> VegaFigure:
    """Rows of cells for vectors [component] by name, coloured symmetrically about 0 up to the largest absolute value
    of all.

    `what` names the values. `totals` maps row names to numbers, drawn as bars at the right with the heading `total`.
    `groups` names equally wide parts of each row, such as heads. The row or group called `chosen` is framed.
    `numbered` says what the numbers on the x axis count, such as components.
    """
    lengths = [len(vector) for vector in rows.values()]
    width = max(lengths, default=0) or 1
    component = np.fromiter(chain.from_iterable(map(range, lengths)), np.int32, sum(lengths))
    numbers = np.concatenate([*rows.values(), np.zeros(0)])
    frames = {}
    if groups or chosen:
        frames["framed"] = _frame_boxes(list(rows), groups, chosen, width)
    if totals:
        frames["totals"] = _total_bars(totals, width)
    side = width / len(groups) if groups else max(1, 2 ** int(np.ceil(np.log2(width / _N_TICKS))))
    ticks = [start + (side if groups else 1) / 2 for start in np.arange(0, width, side).tolist()]
    columns = [
        Column("name", np.repeat(np.array(list(rows), dtype=object), lengths), "row"),
        Column(numbered, component),
        Column("value", numbers, what, ".5~g", what),
    ]
    # Component numbers, or the groups' names, above the middle of their cells; above the bars what they are.
    group_label = "groups[floor(datum.value * length(groups) / cells)]"
    axis_labels = group_label if groups else "format(floor(datum.value), 'd')"
    axis = _axis_above(
        f"datum.value > cells ? {json.dumps(total)} : {axis_labels}",
        title=None if groups else numbered,
        titleFontWeight="normal",
        titleX=-10,  # beside its numbers: a line of its own would push the rows down
        titleY=-6,
        titleAlign="right",
        titleBaseline="bottom",
    )
    legend = colour_legend(
        what,
        SIGNED_ENDS,
        orient="top",
        titleOrient="left",
        titlePadding=10,
        titleFontWeight="normal",
        gradientLength=160,
        gradientThickness=12,
        format=".3~g",
        padding=0,
        offset=4,
    )
    y = {"y": _names_channel(0.14)}
    cells = {
        "x": alt.X(f"{numbered}:Q", scale=alt.Scale(domain=[0, value("end")], nice=False), axis=axis),
        "x2": "end:Q",
        "color": colour("value", signed=True, legend=legend),
        "tooltip": columns,
    }
    boxes = frame_channels((2.5, 0.75)) | {"x": "left:Q", "x2": "right:Q"}
    sums = y | {"tooltip": [tip("name:N", title="row"), tip("total:Q", ".6~g", total)]}
    bars = {"x": "zero:Q", "x2": "tip:Q", "fill": conditional_value("datum.total < 0", FALLS, RISES)}
    edge = {"x": "edge:Q", "text": alt.Text("total:Q", format=".3g")}
    text: Kwargs = {"align": "right", "baseline": "middle", "fontSize": MIDDLE, "color": INK, "aria": False}
    return chart(
        columns,
        layer("rect", y | cells, aria=False),
        layer("rect", y | boxes, "framed", fill=None, aria=False, tooltip=None)
        if "framed" in frames
        else None,
        layer("bar", sums | bars, "totals", height={"band": 0.6}, aria=False) if totals else None,
        layer("text", sums | edge, "totals", **text) if totals else None,
        drawing={"end": component + 1},
        frames=frames,
        values={
            "largest": float(np.abs(numbers).max(initial=0)) or 1.0,
            "rows": list(rows),
            "groups": list(groups),
            "chosen": chosen,
            "cells": width,
            "end": width * (1 + _TOTALS if totals else 1),
            "ticks": [*ticks, *([width * (1 + _TOTALS * 0.5)] if total else [])],
        },
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(rows), 1) * _ROW,
        description=f"{what} of {', '.join(list(rows)[:12])}: {len(rows)} rows of up to {width} {numbered}s"
        + (f", {chosen} framed" if chosen else ""),
    )


def _axis_above(label: str, **options: Any) -> alt.Axis:
    """The x axis above the rows, with the Vega expression `label` at each of the chart's value `ticks`."""
    return alt.Axis(
        orient="top",
        values=value("ticks"),
        labelExpr=label,
        labelFontSize=SMALL,
        labelPadding=6,
        labelOverlap=False,
        **BARE_AXIS,
        **options,
    )


def _names_channel(padding: float) -> alt.Y:
    """The y channel of the column `name`, with names cut to the space at the left, and `padding` between the rows as
    a share of a row; the name in the chart's value `chosen` is bold.
    """
    bold = {"condition": {"test": "datum.value === chosen", "value": "bold"}, "value": "normal"}
    axis = alt.Axis(
        labelFontWeight=bold,
        labelLimit=NAMES - 8,
        labelOverlap=False,
        labelFontSize=MIDDLE,
        minExtent=NAMES,
        maxExtent=NAMES,
        **BARE_AXIS,
    )
    scale = alt.Scale(domain=value("rows"), paddingInner=padding, paddingOuter=0.1)
    return alt.Y("name:N", title=None, scale=scale, axis=axis)


def _frame_boxes(names: Sequence[str], groups: Sequence[str], chosen: str, width: int) -> pd.DataFrame:
    """Boxes around the chosen row, or around each group in each row, which is `width` cells wide; the column
    `selected` marks the chosen one.
    """
    side = width / (len(groups) or 1)
    boxes = [
        (name, index * side, (index + 1) * side, chosen in (group, name))
        for name in (names if groups else [name for name in names if name == chosen])
        for index, group in enumerate(groups or [""])
    ]
    boxes.sort(key=lambda box: box[3])  # the chosen one comes last: no neighbour's line lies on its own
    return pd.DataFrame(boxes, columns=["name", "left", "right", "selected"])


def _total_bars(totals: Mapping[str, float], width: int) -> pd.DataFrame:
    """A data frame with the x positions of the bars of `totals`, in cells, of which a row has `width`: their common
    zero, their ends, and the right edge of the chart.
    """
    numbers, left = np.array(list(totals.values()), float), width * 1.03
    zero, tips = bar_ends(numbers, left, width * (1 + _TOTALS * 0.56) - left)
    edge = width * (1 + _TOTALS)
    return pd.DataFrame({"name": list(totals), "total": numbers, "zero": zero, "tip": tips, "edge": edge})


def bar_ends(numbers: np.ndarray, start: float = 0, length: float = 1) -> tuple[float, np.ndarray]:
    """The common zero of bars for `numbers` [bar], and the other end of each bar [bar], if all of them lie side by side
    in the stretch of this `length` from `start` on.
    """
    lowest, highest = numbers.min(initial=0), numbers.max(initial=0)
    scale = length / ((highest - lowest) or 1)
    zero = start - lowest * scale
    return zero, zero + numbers * scale


def value_bars(
    values: Mapping[str, float], *, what: str, before: Mapping[str, float], was: str
) -> VegaFigure:
    """Horizontal bars of `values` by name, coloured by sign, with their numbers; `what` is the title of the axis.

    Outlines show the value of each name in `before`; `was` is their name in the legend.
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
    row = {"y": _names_channel(0.2)}
    bar = row | {"x": alt.X("value:Q", scale=scale, axis=axis)}
    whole = {"x": alt.value(0), "x2": alt.value(alt.expr("width"))}
    return chart(
        columns,
        layer(
            "bar",
            bar | {"fill": conditional_value("datum.value < 0", FALLS, RISES)},
            height={"band": 0.72},
            aria=False,
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
        height=max(len(values), 1) * _BAR,
        description=f"{what} of {', '.join(list(values)[:12])}: {len(values)} bars",
    )


_BARS, _NUMBERS = 0.62, 0.94  # of a column: where its bars end, and the right edge of its numbers


def factor_bars(columns: Mapping[str, np.ndarray], names: Sequence[str]) -> VegaFigure:
    """For each column a bar for each of the `names`, from the column's own zero, coloured by sign, with its number.

    `columns` maps the titles of the columns to their values [name]; each column has its own scale.
    """
    numbers = np.array(list(columns.values()), float).reshape(len(columns), len(names))
    # A column is 1 wide.
    ends = [bar_ends(values, index, _BARS) for index, values in enumerate(numbers)]
    drawn = [
        Column("name", list(names) * len(columns), "row"),
        Column("column", np.repeat(np.array(list(columns), object), len(names))),
        Column("value", numbers, format=".5~g"),
    ]
    axis = _axis_above("titles[floor(datum.value)]", title=None)
    base = {"y": _names_channel(0.2), "tooltip": drawn}
    bar = {
        "x": alt.X("zero:Q", scale=alt.Scale(domain=[0, value("end")], nice=False), axis=axis),
        "x2": "tip:Q",
        "fill": conditional_value("datum.value < 0", FALLS, RISES),
    }
    text: Kwargs = {"align": "right", "baseline": "middle", "fontSize": MIDDLE, "color": INK, "aria": False}
    return chart(
        drawn,
        layer("bar", base | bar, height={"band": 0.72}, aria=False),
        layer("text", base | {"x": "edge:Q", "text": "number:N"}, **text),
        drawing={
            "zero": np.repeat([zero for zero, _ in ends], len(names)),
            "tip": np.stack([tips for _, tips in ends]),
            "edge": np.repeat(np.arange(len(columns)) + _NUMBERS, len(names)),
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
        height=max(len(names), 1) * _BAR,
        description=f"{', '.join(columns)} of {', '.join(list(names)[:12])}: {len(names)} rows of bars",
    )
