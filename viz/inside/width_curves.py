"""What a growing d_k does: variance of the scores, entropy and gradient of the softmax, a colour for each scale."""

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.heading import FIT, heading
from viz.inside.scales import scale_colour, scale_name
from viz.numbers import powers_of_ten
from viz.palette import ACCENT

_HEIGHT = 230


def variance_over_width(measured: pd.DataFrame, *, d_k: int, power: float) -> alt.LayerChart:
    """Points: the `variance` measured for each `d_k` and `power`. Lines: d_k^(1 - 2 power), what theory says.

    The chosen `d_k` has a rule, the chosen `power` is drawn in full, the others faintly.
    """
    widths = np.unique(measured["d_k"])
    theory = pd.DataFrame(
        {"d_k": width, "power": other, "variance": float(width) ** (1 - 2 * other)}
        for other in _powers(measured)
        for width in widths
    )
    ticks = powers_of_ten([*measured["variance"], *theory["variance"]])
    y = alt.Y(
        "variance:Q", title="variance", scale=alt.Scale(type="log"), axis=alt.Axis(values=ticks, format="~g")
    )
    base = _by_scale(measured, power)
    points = base.mark_point(filled=True, size=55).encode(
        y=y,
        tooltip=_tooltip(alt.Tooltip("variance:Q", format=".4~g", title="variance, measured")),
    )
    lines = (
        _by_scale(theory, power)
        .mark_line(strokeWidth=1.5)
        .encode(y=y, tooltip=_tooltip(alt.Tooltip("variance:Q", format=".4~g", title="variance, expected")))
    )
    return alt.layer(lines, points, _rule(d_k)).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading("Variance of the scaled q·k", "points: measured; lines: d_k · scale²"),
        description=f"Variance of scaled dot products over d_k on two logarithmic axes; d_k = {d_k} is marked.",
    )


def entropy_over_width(measured: pd.DataFrame, *, d_k: int, power: float) -> alt.LayerChart:
    """The mean `entropy` of the softmax, from 0 (one key) to 1 (all keys alike), for each `d_k` and `power`."""
    base = _by_scale(measured, power)
    y = alt.Y("entropy:Q", title="entropy / ln n", scale=alt.Scale(domain=[0, 1]))
    tooltip = _tooltip(alt.Tooltip("entropy:Q", format=".4f", title="entropy / ln n"))
    lines = base.mark_line(strokeWidth=2.5, point={"filled": True, "size": 45}).encode(y=y, tooltip=tooltip)
    return alt.layer(lines, _rule(d_k)).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading("Entropy of the softmax", "1: all keys alike; 0: one key has all"),
        description=f"Entropy of the softmax over d_k for each scale; d_k = {d_k} is marked.",
    )


def gradient_over_width(measured: pd.DataFrame, *, d_k: int, power: float) -> alt.LayerChart:
    """The median `gradient` norm of the softmax, and a band from `gradient_low` to `gradient_high`."""
    base = _by_scale(measured, power)
    y = alt.Y("gradient:Q", title="‖diag(a) − a aᵀ‖", scale=alt.Scale(zero=True))
    tooltip = _tooltip(
        alt.Tooltip("gradient:Q", format=".4~g", title="median"),
        alt.Tooltip("gradient_low:Q", format=".4~g", title="lower quartile"),
        alt.Tooltip("gradient_high:Q", format=".4~g", title="upper quartile"),
    )
    band = (
        base.transform_filter(alt.datum["power"] == power)
        .mark_area(opacity=0.18)
        .encode(
            y=alt.Y("gradient_low:Q", title="‖diag(a) − a aᵀ‖"),
            y2=alt.Y2("gradient_high:Q"),
            opacity=alt.value(0.18),
        )
    )
    lines = base.mark_line(strokeWidth=2.5, point={"filled": True, "size": 45}).encode(y=y, tooltip=tooltip)
    return alt.layer(band, lines, _rule(d_k)).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading("Gradient of the softmax", "median over queries; band: quartiles of the chosen scale"),
        description=f"Norm of the gradient of the softmax over d_k for each scale; d_k = {d_k} is marked.",
    )


def _by_scale(rows: pd.DataFrame, power: float) -> alt.Chart:
    powers = _powers(rows)
    return alt.Chart(rows.assign(scale=rows["power"].map(scale_name))).encode(
        x=alt.X(
            "d_k:Q",
            title="d_k",
            scale=alt.Scale(type="log", base=2),
            axis=alt.Axis(values=np.unique(rows["d_k"]).tolist(), grid=False),
        ),
        color=scale_colour(powers),
        opacity=alt.when(alt.datum["power"] == power).then(alt.value(1)).otherwise(alt.value(0.4)),
    )


def _powers(rows: pd.DataFrame) -> list[float]:
    return sorted(rows["power"].unique().tolist())


def _rule(d_k: int) -> alt.Chart:
    return (
        alt.Chart(pd.DataFrame({"d_k": [d_k]}))
        .mark_rule(color=ACCENT, strokeWidth=2)
        .encode(x=alt.X("d_k:Q"), tooltip=alt.Tooltip("d_k:Q", title="chosen d_k"))
    )


def _tooltip(*measures: alt.Tooltip) -> list[alt.Tooltip]:
    return [alt.Tooltip("scale:N"), alt.Tooltip("d_k:Q", title="d_k"), *measures]
