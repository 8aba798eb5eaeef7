"""Every head of a checkpoint as a point, with the head that is looked at marked."""

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.heading import FIT, heading
from viz.palette import ACCENT, EMPHASIS, NEUTRAL
from viz.theme import INK

_HEIGHT = 230
_OPACITY = 0.75
_ROUND = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5)]


def variance_of_heads(heads: pd.DataFrame, *, d_k: int, selected: tuple[int, int]) -> alt.LayerChart:
    """`variance` of q·k by layer on a logarithmic axis, and a line at `d_k`.

    `heads` has a row a head: layer, head, mean and variance of q·k. Heads of a layer stand side by side; the
    `selected` (layer, head) is filled. A click sets the point selection `head`, fields `layer` and `head`.
    """
    x = alt.X(
        "layer:O",
        title="layer",
        axis=alt.Axis(labelAngle=0, labelExpr="'L' + datum.label", grid=True),
        scale=alt.Scale(paddingInner=0.1),
    )
    tooltip = [
        alt.Tooltip("name:N", title="head"),
        alt.Tooltip("variance:Q", format=".4~g", title="variance of q·k"),
        alt.Tooltip("mean:Q", format=".4~g", title="mean of q·k"),
    ]
    # A head with one key alone has no variance, and no place on a logarithmic axis.
    heads = heads[heads["variance"] > 0]
    lowest, highest = (float(end) for end in (heads["variance"].min(), heads["variance"].max()))
    domain = [min([lowest, d_k]) / 1.5, max([highest, d_k]) * 1.5] if len(heads) else [d_k / 10, d_k * 10]
    y = alt.Y(
        "variance:Q",
        title="variance of q·k",
        scale=alt.Scale(type="log", domain=domain, nice=False),
        axis=alt.Axis(values=_ROUND, format="~g", labelOverlap=True),
    )
    points = _points(heads, selected).encode(
        x=x, xOffset=alt.XOffset("head:O", scale=alt.Scale(paddingOuter=0.3)), y=y, tooltip=tooltip
    )
    line = pd.DataFrame({"d_k": [d_k]})
    rule = (
        alt.Chart(line)
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=INK)
        .encode(y=alt.Y("d_k:Q"), tooltip=alt.Tooltip("d_k:Q", title="components of variance 1 would give"))
    )
    return alt.layer(rule, points).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading(
            "Variance of q·k, every head", f"dashed: {d_k}, what independent components of variance 1 give"
        ),
        description=f"Variance of q·k for {len(heads)} heads by layer; {_name(*selected)} is marked.",
    )


def with_and_without(
    heads: pd.DataFrame, measure: str, *, title: str, reading: str, axis: str, selected: tuple[int, int]
) -> alt.LayerChart:
    """`measure` of each head with the scale 1/sqrt(d_k), across, and `measure`_unscaled without it, up.

    On the dashed diagonal both are the same. `axis` names the measure on both axes. Clicks are as in
    `variance_of_heads`.
    """
    top = float(np.nanmax(heads[[measure, f"{measure}_unscaled"]].to_numpy(), initial=0)) or 1.0
    domain = alt.Scale(domain=[0, top * 1.05], nice=False)
    points = _points(heads, selected).encode(
        x=alt.X(f"{measure}:Q", title=f"{axis}, with 1/√d_k", scale=domain),
        y=alt.Y(f"{measure}_unscaled:Q", title=f"{axis}, without", scale=domain),
        tooltip=[
            alt.Tooltip("name:N", title="head"),
            alt.Tooltip(f"{measure}:Q", format=".4f", title="with 1/√d_k"),
            alt.Tooltip(f"{measure}_unscaled:Q", format=".4f", title="without"),
        ],
    )
    diagonal = (
        alt.Chart(pd.DataFrame({"with": [0, top * 1.05], "without": [0, top * 1.05]}))
        .mark_line(strokeDash=[6, 4], strokeWidth=1.5, color=NEUTRAL, aria=False)
        .encode(x=alt.X("with:Q"), y=alt.Y("without:Q"))
    )
    return alt.layer(diagonal, points).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading(title, reading),
        description=f"{title} of {len(heads)} heads, with and without the scale; {_name(*selected)} is marked.",
    )


def _points(heads: pd.DataFrame, selected: tuple[int, int]) -> alt.Chart:
    places = list(zip(heads["layer"], heads["head"], strict=True))
    rows = heads.assign(
        name=[_name(*place) for place in places], selected=[place == selected for place in places]
    )
    return (
        # the chosen one last, above the others
        alt.Chart(rows.sort_values("selected", kind="stable"))
        .mark_point(filled=True, cursor="pointer", stroke="transparent")
        .encode(
            color=alt.when("datum.selected").then(alt.value(ACCENT)).otherwise(alt.value(EMPHASIS)),
            size=alt.when("datum.selected").then(alt.value(170)).otherwise(alt.value(80)),
            opacity=alt.when("datum.selected").then(alt.value(1)).otherwise(alt.value(_OPACITY)),
            description=alt.Description("name:N"),
        )
        .add_params(alt.selection_point(name="head", fields=["layer", "head"], toggle=False, clear=False))
    )


def _name(layer: int, head: int) -> str:
    return f"L{layer} H{head}"
