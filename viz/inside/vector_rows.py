"""Vectors below each other: a row each, a cell a component, and at the right what the row comes to."""

import json
from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, DIFFERENCE, NEUTRAL
from viz.theme import INK

NAMES = 132  # pixels for the names of rows, the same in all charts: their columns stand below each other
NEGATIVE, POSITIVE = DIFFERENCE[0], DIFFERENCE[-1]
_ROW, _LOW_ROW, _MANY = 26, 17, 40  # pixels a row, and from how many rows on they are low
_TOTALS = 0.36  # their part of the chart beside the cells, as a share of what the cells take
_N_TICKS = 8


def vector_rows(
    rows: Mapping[str, np.ndarray],
    *,
    what: str,
    totals: Mapping[str, float] | None = None,
    total: str = "",
    groups: Sequence[str] = (),
    chosen: str = "",
    clicks: bool = False,
) -> alt.LayerChart:
    """Vectors [component] by name, `what` they hold in colours symmetric about 0 up to the largest of all.

    `totals` of rows are drawn as bars at the right, named `total`; where there are none, their room stays.
    `groups` names equally wide parts of every row, such as heads. The row or group called `chosen` is framed.
    With `clicks` a click on a cell sets the point selection `row`, field `row`, counted from 0.
    """
    width = max((len(vector) for vector in rows.values()), default=0) or 1
    largest = max((float(np.abs(vector).max(initial=0)) for vector in rows.values()), default=0) or 1.0
    # Channels as objects: to make them out of strings takes Altair ten times as long.
    y = alt.Y(
        "name:N",
        title=None,
        scale=alt.Scale(domain=list(rows), paddingInner=0.14, paddingOuter=0.1),
        axis=names_axis(chosen),
    )
    cells = (
        alt.Chart(_cells(rows))
        .mark_rect(aria=False, cursor="pointer" if clicks else "default")
        .encode(
            x=alt.X(
                "component:Q",
                scale=alt.Scale(domain=[0, width * (1 if totals is None else 1 + _TOTALS)], nice=False),
                axis=_axis(groups, width, total),
            ),
            x2=alt.X2("end:Q"),
            y=y,
            color=alt.Color(
                "value:Q",
                scale=alt.Scale(domain=[-largest, largest], range=list(DIFFERENCE)),
                legend=_legend(what, largest),
            ),
            tooltip=[
                alt.Tooltip("name:N", title="row"),
                alt.Tooltip("component:Q"),
                alt.Tooltip("value:Q", format=".5~g", title=what),
            ],
        )
    )
    if clicks:
        cells = cells.add_params(alt.selection_point(name="row", fields=["row"], toggle=False, clear=False))
    layers = [cells]
    if groups or chosen:
        layers.append(_frames(list(rows), groups, chosen, width).encode(y=y))
    if totals:
        layers += [layer.encode(y=y) for layer in _totals(totals, total, width)]
    return alt.layer(*layers).properties(
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(rows), 1) * (_ROW if len(rows) < _MANY else _LOW_ROW),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"{what} of {', '.join(list(rows)[:12])}: {len(rows)} rows of up to {width} components"
        + (f", {chosen} framed" if chosen else ""),
    )


def names_axis(chosen: str) -> alt.Axis:
    """Every name, cut to the room there is; the chosen one in bold."""
    return alt.Axis(
        labelFontWeight={
            "condition": {"test": f"datum.value === {json.dumps(chosen)}", "value": "bold"},
            "value": "normal",
        },
        labelLimit=NAMES - 8,
        labelOverlap=False,
        labelFontSize=13,
        minExtent=NAMES,
        maxExtent=NAMES,
        ticks=False,
        domain=False,
        grid=False,
    )


def _cells(rows: Mapping[str, np.ndarray]) -> pd.DataFrame:
    lengths = [len(vector) for vector in rows.values()]
    component = np.concatenate([np.arange(length) for length in lengths] or [np.zeros(0)]).astype(np.int32)
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(len(rows), dtype=np.int32), lengths),
            "name": np.repeat(np.array(list(rows), dtype=object), lengths),
            "component": component,
            "end": component + 1,
            "value": np.concatenate([*rows.values(), np.zeros(0)]),
        }
    )


def _frames(names: Sequence[str], groups: Sequence[str], chosen: str, width: int) -> alt.Chart:
    """Around the chosen row, or around each group of every row, the chosen one's in the accent."""
    side = width / (len(groups) or 1)
    boxes = pd.DataFrame(
        {
            "name": name,
            "left": at * side,
            "right": (at + 1) * side,
            "stroke": ACCENT if chosen in (group, name) else NEUTRAL,
            "line": 2.5 if chosen in (group, name) else 0.75,
        }
        for name in (names if groups else [name for name in names if name == chosen])
        for at, group in enumerate(groups or [""])
    )
    return (
        # The chosen one comes last: no neighbour's line lies on its own.
        alt.Chart(boxes.sort_values("line"))
        .mark_rect(fill=None, aria=False, tooltip=None)
        .encode(
            x=alt.X("left:Q"),
            x2=alt.X2("right:Q"),
            stroke=alt.Stroke("stroke:N", scale=None),
            strokeWidth=alt.StrokeWidth("line:Q", scale=None),
        )
    )


def _totals(totals: Mapping[str, float], total: str, width: int) -> tuple[alt.Chart, alt.Chart]:
    """Bars from a common zero, in the colour of their sign, and their numbers at the right edge."""
    left, right = width * 1.03, width * (1 + _TOTALS * 0.56)
    low, high = min(0.0, *totals.values()), max(0.0, *totals.values())
    reach = (right - left) / ((high - low) or 1)
    zero = left - low * reach
    table = pd.DataFrame(
        {
            "name": name,
            "total": value,
            "colour": NEGATIVE if value < 0 else POSITIVE,
            "zero": zero,
            "tip": zero + value * reach,
            "edge": width * (1 + _TOTALS),
        }
        for name, value in totals.items()
    )
    base = alt.Chart(table).encode(
        tooltip=[
            alt.Tooltip("name:N", title="row"),
            alt.Tooltip("total:Q", format=".6~g", title=total),
        ]
    )
    bars = base.mark_bar(height={"band": 0.6}, aria=False).encode(
        x=alt.X("zero:Q"), x2=alt.X2("tip:Q"), fill=alt.Fill("colour:N", scale=None)
    )
    numbers = base.mark_text(align="right", baseline="middle", fontSize=13, color=INK, aria=False).encode(
        x=alt.X("edge:Q"), text=alt.Text("total:Q", format=".3g")
    )
    return bars, numbers


def _axis(groups: Sequence[str], width: int, total: str) -> alt.Axis:
    """Component numbers, or the groups' names, above the middle of their cells; above the bars what they are."""
    if groups:
        side = width / len(groups)
        at = [(number + 0.5) * side for number in range(len(groups))]
        below = f"{json.dumps(list(groups))}[floor(datum.value / {side})]"
    else:
        every = max(1, 2 ** int(np.ceil(np.log2(width / _N_TICKS))))
        at = [component + 0.5 for component in range(0, width, every)]
        below = "format(floor(datum.value), 'd')"
    if total:
        at.append(width * (1 + _TOTALS * 0.5))
    return alt.Axis(
        orient="top",
        title=None if groups else "component",
        titleFontWeight="normal",
        titleX=-10,  # beside its numbers: a line of its own would push the rows down
        titleY=-6,
        titleAlign="right",
        titleBaseline="bottom",
        values=at,
        labelExpr=f"datum.value > {width} ? {json.dumps(total)} : {below}",
        labelFontSize=12,
        labelPadding=6,
        labelOverlap=False,
        ticks=False,
        domain=False,
        grid=False,
    )


def _legend(what: str, largest: float) -> alt.Legend:
    return alt.Legend(
        title=what,
        titleOrient="left",
        titlePadding=10,
        titleLimit=0,
        titleFontWeight="normal",
        orient="top",
        direction="horizontal",
        gradientLength=160,
        gradientThickness=12,
        values=[-largest, 0, largest],
        format=".3~g",
        padding=0,
        offset=4,
    )
