"""Dimensions of the sinusoidal positions as curves over the position, each in a band of its own."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.figure import VegaFigure, data, either, form, tip, value
from viz.palette import ACCENT, EMPHASIS, NEUTRAL
from viz.theme import INK

_BAND = 3.2  # units from curve to curve: from -1 to 1, and a line of text
_PIXELS = 92  # a band


def wave_curves(
    names: Sequence[str], values: np.ndarray, t: np.ndarray, waves: np.ndarray, *, position: int
) -> VegaFigure:
    """`values` [curve, position] as dots on the `waves` [curve, t] that run through them; the chosen `position`
    is marked.

    Raises ValueError where names, dots and waves differ in number.
    """
    if not len(names) == len(values) == len(waves):
        raise ValueError(f"got {len(names)} names, {len(values)} rows of values and {len(waves)} waves")
    n_curves, n = values.shape
    shift = -_BAND * np.arange(n_curves)
    dots = {
        "name": np.repeat(list(names), n),
        "t": np.tile(np.arange(n), n_curves),
        "value": values.astype(float).ravel(),
        "place": np.round(values + shift[:, None], 4).ravel(),
    }
    lines = {
        "curve": np.repeat(np.arange(n_curves), len(t)),
        "t": np.tile(np.round(t, 3), n_curves),
        "place": np.round(waves + shift[:, None], 4).ravel(),
    }
    bands = pd.DataFrame(
        {"name": list(names), "zero": shift, "low": shift - 1.1, "high": shift + 1.1, "above": shift + 1.55}
    )
    return _form(n_curves).of(
        dots,
        values={"position": position, "last": max(n - 1, 1), "size": 14 if n <= 128 else 3},
        frames={"waves": lines, "bands": bands},
        height=max(n_curves, 1) * _PIXELS,
        description=f"{n_curves} dimensions over {n} positions; position {position} is marked",
    )


@form
def _form(n_curves: int) -> alt.LayerChart:
    x = alt.X("t:Q", title="position t", scale=alt.Scale(domain=[0, value("last")], nice=False))
    # Each band has the labels -1, 0 and 1.
    ticks = [end - _BAND * curve for curve in range(n_curves) for end in (-1, 0, 1)]
    labels = f"round(datum.value + {_BAND} * round(-datum.value / {_BAND}))"
    axis = alt.Axis(values=ticks, grid=False, labelExpr=labels)
    scale = alt.Scale(domain=[-_BAND * max(n_curves - 1, 0) - 1.2, 2], nice=False)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="value, from −1 to 1", scale=scale, axis=axis)

    def of_chosen(then: object, otherwise: object) -> object:
        return either("datum.t == position", then, otherwise)

    curves = alt.Chart(data("waves")).mark_line(color=EMPHASIS, strokeWidth=1.5, aria=False)
    dots = alt.Chart(data()).mark_circle(opacity=1)
    points = dots.encode(
        x=x,
        y=up("place"),
        color=of_chosen(ACCENT, EMPHASIS),
        size=of_chosen(90, value("size")),
        tooltip=[tip("name:N", title="dimension"), tip("t:Q", title="position t"), tip("value:Q", ".4f")],
    )
    bands = alt.Chart(data("bands"))
    names = bands.mark_text(align="left", fontSize=13, color=INK, dx=2)
    rule = bands.mark_rule(color=ACCENT, strokeWidth=1.5, aria=False)
    zero = bands.mark_rule(color=NEUTRAL, strokeWidth=0.5, aria=False)
    return alt.layer(
        zero.encode(y=up("zero")),
        rule.encode(x=alt.XDatum(value("position"), type="quantitative"), y=up("low"), y2="high:Q"),
        curves.encode(x=x, y=up("place"), detail="curve:N"),
        points,
        names.encode(x=alt.value(0), y=up("above"), text="name:N"),
    )
