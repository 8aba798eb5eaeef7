"""Dimensions of the sinusoidal positions as curves over the position, each in a band of its own."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, EMPHASIS, NEUTRAL
from viz.theme import INK

_BAND = 3.2  # units from curve to curve: from -1 to 1, and a line of text
_PIXELS = 92  # a band


def wave_curves(
    names: Sequence[str], values: np.ndarray, t: np.ndarray, waves: np.ndarray, *, position: int
) -> alt.LayerChart:
    """`values` [curve, position] as dots on the `waves` [curve, t] that run through them; the chosen `position`
    is marked.

    Raises ValueError where names, dots and waves differ in number.
    """
    if not len(names) == len(values) == len(waves):
        raise ValueError(f"got {len(names)} names, {len(values)} rows of values and {len(waves)} waves")
    n = values.shape[1]
    shift = -_BAND * np.arange(len(names))
    lines = pd.DataFrame(
        {
            "curve": np.repeat(np.arange(len(names)), len(t)),
            "t": np.tile(np.round(t, 3), len(names)),
            "place": np.round(waves + shift[:, None], 4).ravel(),
        }
    )
    dots = pd.DataFrame(
        {
            "name": np.repeat(list(names), n),
            "t": np.tile(np.arange(n), len(names)),
            "value": values.astype(float).ravel(),
            "place": np.round(values + shift[:, None], 4).ravel(),
        }
    )
    titles = pd.DataFrame({"name": list(names), "place": shift + 1.55})
    ticks = [float(at) for at in np.add.outer(shift, [-1, 0, 1]).ravel()]
    x = alt.X("t:Q", title="position t", scale=alt.Scale(domain=[0, max(n - 1, 1)], nice=False))
    y = alt.Y(
        "place:Q",
        title="value, from −1 to 1",
        scale=alt.Scale(domain=[float(shift.min(initial=0)) - 1.2, 2], nice=False),
        # each band has the labels -1, 0 and 1
        axis=alt.Axis(
            values=ticks,
            grid=False,
            labelExpr=f"round(datum.value + {_BAND} * round(-datum.value / {_BAND}))",
        ),
    )
    curves = (
        alt.Chart(lines)
        .mark_line(color=EMPHASIS, strokeWidth=1.5, aria=False)
        .encode(x=x, y=y, detail="curve:N")
    )
    points = (
        alt.Chart(dots)
        .transform_calculate(chosen=f"datum.t == {position}")
        .mark_circle(opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(EMPHASIS)),
            size=alt.when("datum.chosen").then(alt.value(90)).otherwise(alt.value(14 if n <= 128 else 3)),
            tooltip=[
                alt.Tooltip("name:N", title="dimension"),
                alt.Tooltip("t:Q", title="position t"),
                alt.Tooltip("value:Q", format=".4f"),
            ],
        )
    )
    headings = (
        alt.Chart(titles)
        .mark_text(align="left", fontSize=13, color=INK, dx=2)
        .encode(x=alt.value(0), y=y, text="name:N")
    )
    rule = (
        alt.Chart(pd.DataFrame({"t": position, "place": shift - 1.1, "top": shift + 1.1}))
        .mark_rule(color=ACCENT, strokeWidth=1.5, aria=False)
        .encode(x=x, y=y, y2="top:Q")
    )
    zero = (
        alt.Chart(pd.DataFrame({"place": shift}))
        .mark_rule(color=NEUTRAL, strokeWidth=0.5, aria=False)
        .encode(y=y)
    )
    return alt.layer(zero, rule, curves, points, headings).properties(
        height=max(len(names), 1) * _PIXELS,
        description=f"{len(names)} dimensions over {n} positions; position {position} is marked",
    )
