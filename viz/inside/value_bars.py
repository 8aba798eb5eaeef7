"""One number for each name, as bars from a common zero: scores, weights, hidden units."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.vector_rows import NEGATIVE, POSITIVE, names_axis
from viz.palette import ACCENT, EMPHASIS, NEUTRAL, ColourScale, top
from viz.theme import INK

_ROW, _LOW_ROW, _MANY = 24, 17, 40  # pixels a bar, and from how many on they are low
_ROOM = 0.16  # beside the bars, for their numbers, as a share of their reach


def value_bars(
    values: Mapping[str, float],
    *,
    what: str,
    before: Mapping[str, float] | None = None,
    was: str = "",
    weights: ColourScale | None = None,
    chosen: str = "",
    clicks: bool = False,
) -> alt.LayerChart:
    """`values` by name, `what` they are, with their numbers; NaN is a masked key, which has none.

    Outlines show what each value was `before`, and `was` says what that is. Attention `weights` reach as far
    as the colours of the maps do; other values are coloured by their sign. The one called `chosen` is framed.
    With `clicks` a click sets the point selection `row`, field `row`, counted from 0.
    """
    table = _table(values, before, chosen, in_sign=weights is None)
    low, high = _reach(table, weights)
    room = (high - low) * _ROOM
    tooltip = [
        alt.Tooltip("name:N", title="row"),
        alt.Tooltip("value:Q", format=".6~g", title=what),
        *([] if before is None else [alt.Tooltip("before:Q", format=".6~g", title=was)]),
    ]
    # Channels as objects: to make them out of strings takes Altair ten times as long.
    base = alt.Chart(table).encode(
        y=alt.Y(
            "name:N",
            title=None,
            scale=alt.Scale(domain=list(values), paddingInner=0.2, paddingOuter=0.1),
            axis=names_axis(chosen),
        ),
        x=alt.X(
            "value:Q",
            scale=alt.Scale(domain=[low - (room if low < 0 else 0), high + room], nice=False),
            axis=alt.Axis(
                orient="top",
                title=what if before is None else f"{what}; outlined: {was}",
                titleAnchor="start",
                titleFontWeight="normal",
                grid=False,
                tickCount=5,
                labelPadding=6,
            ),
        ),
    )
    layers = [
        base.mark_bar(height={"band": 0.72}, aria=False).encode(fill=alt.Fill("colour:N", scale=None)),
        # Beside the longer of the two bars, on the side to which it points.
        base.mark_text(
            align=alt.expr("datum.left ? 'right' : 'left'"),
            dx=alt.expr("datum.left ? -5 : 5"),
            baseline="middle",
            fontSize=13,
            color=INK,
            aria=False,
        ).encode(x=alt.X("at:Q"), text=alt.Text("number:N")),
        # On top and clear: a click anywhere in a row counts.
        base.mark_rect(fill="transparent", cursor="pointer" if clicks else "default").encode(
            x=alt.XValue(0),
            x2=alt.X2Value(alt.expr("width")),
            description=alt.Description("name:N"),
            stroke=alt.Stroke("frame:N", scale=None),
            strokeWidth=alt.StrokeWidthValue(2),
            tooltip=tooltip,
        ),
    ]
    if before is not None:
        outlines = base.mark_bar(fill=None, stroke=NEUTRAL, strokeWidth=1, aria=False)
        layers.insert(1, outlines.encode(x=alt.X("before:Q")))
    if clicks:
        click = alt.selection_point(name="row", fields=["row"], toggle=False, clear=False)
        layers[-1] = layers[-1].add_params(click)
    return alt.layer(*layers).properties(
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(table), 1) * (_ROW if len(table) < _MANY else _LOW_ROW),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"{what} of {', '.join(list(values)[:12])}: {len(table)} bars"
        + (f", {chosen} framed" if chosen else ""),
    )


def _table(
    values: Mapping[str, float], before: Mapping[str, float] | None, chosen: str, *, in_sign: bool
) -> pd.DataFrame:
    rows = []
    for row, (name, value) in enumerate(values.items()):
        earlier = np.nan if before is None else before[name]
        furthest = max((value, earlier), key=lambda end: np.nan_to_num(abs(end)))
        rows.append(
            {
                "row": row,
                "name": name,
                "value": float(value),
                "before": float(earlier),
                "number": "masked" if np.isnan(value) else f"{value:#.3g}".rstrip(".").replace("-", "−"),
                "at": float(np.nan_to_num(furthest)),
                "left": bool(furthest < 0),
                "colour": (NEGATIVE if value < 0 else POSITIVE) if in_sign else EMPHASIS,
                "frame": ACCENT if name == chosen else "transparent",
            }
        )
    columns = ["row", "name", "value", "before", "number", "at", "left", "colour", "frame"]
    return pd.DataFrame(rows, columns=columns)


def _reach(table: pd.DataFrame, weights: ColourScale | None) -> tuple[float, float]:
    """Lowest and highest value that the axis shows; 0 is always within."""
    if weights is not None:
        return 0.0, top(table["value"].dropna().to_numpy(), weights)
    numbers = table[["value", "before"]].to_numpy(float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0))
    return (low, high) if low < high else (0.0, 1.0)
