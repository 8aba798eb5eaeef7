"""Every head of a checkpoint as a point, with the chosen head marked."""

import altair as alt
import numpy as np
import pandas as pd

from ..builders.figure import VegaFigure, click_on, data, either, form, tip, value
from ..builders.number_format import head_name
from ..builders.palette import ACCENT, EMPHASIS, NEUTRAL
from ..builders.theme import FIT, INK, heading_with_reading

_HEIGHT = 230
_OPACITY = 0.75
_ROUND = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5)]


def variance_of_heads(heads: pd.DataFrame, *, d_k: int, selected: tuple[int, int]) -> VegaFigure:
    """The `variance` of q·k of each head by layer on a logarithmic axis, and a line at `d_k`.

    `heads` has a row for each head with the columns layer, head, mean and variance of q·k. The `selected` (layer,
    head) is filled. A click sets the point selection `head`, fields `layer` and `head`.
    """
    # A head with one key alone has no variance, and no place on a logarithmic axis.
    frame = _with_selected_last(heads, selected)[lambda rows: rows["variance"] > 0]
    lowest, highest = (
        (frame["variance"].min(), frame["variance"].max()) if len(frame) else (0.15 * d_k, d_k / 0.15)
    )
    reading = f"dashed: {d_k}, what independent components of variance 1 give"
    return _variance_form().with_data(
        frame,
        in_file={"entropy_unscaled": "entropy, unscaled"},
        frames={"line": {"d_k": [d_k]}},
        values={"low": float(min(lowest, d_k)) / 1.5, "high": float(max(highest, d_k)) * 1.5},
        height=_HEIGHT,
        title=heading_with_reading("Variance of q·k, every head", reading),
        description=f"Variance of q·k for {len(frame)} heads by layer; {head_name(*selected)} is marked.",
    )


@form
def _variance_form() -> alt.TopLevelMixin:
    x_axis = alt.Axis(labelAngle=0, labelExpr="'L' + datum.label", grid=True)
    points = _head_points().encode(
        x=alt.X("layer:O", title="layer", axis=x_axis, scale=alt.Scale(paddingInner=0.1)),
        xOffset=alt.XOffset("head:O", scale=alt.Scale(paddingOuter=0.3)),
        y=alt.Y(
            "variance:Q",
            title="variance of q·k",
            scale=alt.Scale(type="log", domain=[value("low"), value("high")], nice=False),
            axis=alt.Axis(values=_ROUND, format="~g", labelOverlap=True),
        ),
        tooltip=[
            tip("name:N", title="head"),
            tip("variance:Q", ".4~g", "variance of q·k"),
            tip("mean:Q", ".4~g", "mean of q·k"),
        ],
    )
    rule = alt.Chart(data("line")).mark_rule(strokeDash=[6, 4], strokeWidth=1.5, color=INK)
    expected = tip("d_k:Q", title="components of variance 1 would give")
    return alt.layer(rule.encode(y="d_k:Q", tooltip=expected), points).properties(autosize=FIT)


def with_and_without_scale(
    heads: pd.DataFrame, measure: str, *, title: str, reading: str, axis: str, selected: tuple[int, int]
) -> VegaFigure:
    """A point for each head: its `measure` with the scale 1/√d_k across, and without it (column `measure`_unscaled)
    up.

    On the dashed diagonal both are equal. `axis` names the measure on both axes. A click is as in
    `variance_of_heads`.
    """
    axis_end = 1.05 * (float(np.nanmax(heads[[measure, f"{measure}_unscaled"]].to_numpy(), initial=0)) or 1.0)
    return _comparison_form(measure, axis).with_data(
        _with_selected_last(heads, selected),
        in_file={"entropy_unscaled": "entropy, unscaled"},
        frames={"diagonal": {"with": [0, axis_end], "without": [0, axis_end]}},
        values={"end": axis_end},
        height=_HEIGHT,
        title=heading_with_reading(title, reading),
        description=f"{title} of {len(heads)} heads, with and without the scale; {head_name(*selected)} is marked.",
    )


@form
def _comparison_form(measure: str, axis: str) -> alt.TopLevelMixin:
    scale = alt.Scale(domain=[0, value("end")], nice=False)
    points = _head_points().encode(
        x=alt.X(f"{measure}:Q", title=f"{axis}, with 1/√d_k", scale=scale),
        y=alt.Y(f"{measure}_unscaled:Q", title=f"{axis}, without", scale=scale),
        tooltip=[
            tip("name:N", title="head"),
            tip(f"{measure}:Q", ".4f", "with 1/√d_k"),
            tip(f"{measure}_unscaled:Q", ".4f", "without"),
        ],
    )
    diagonal = alt.Chart(data("diagonal")).mark_line(
        strokeDash=[6, 4], strokeWidth=1.5, color=NEUTRAL, aria=False
    )
    return alt.layer(diagonal.encode(x="with:Q", y="without:Q"), points).properties(autosize=FIT)


def _with_selected_last(heads: pd.DataFrame, selected: tuple[int, int]) -> pd.DataFrame:
    """The rows with a column for the heads' names; the selected head comes last and is drawn above the others."""
    indices = list(zip(heads["layer"].tolist(), heads["head"].tolist(), strict=True))
    marked = heads.assign(
        name=[head_name(*index) for index in indices], selected=[index == selected for index in indices]
    )
    return marked.iloc[sorted(range(len(indices)), key=lambda row: indices[row] == selected)]


def _head_points() -> alt.Chart:
    """Points that can be clicked, the selected one larger and green."""
    points = alt.Chart(data()).mark_point(filled=True, cursor="pointer", stroke="transparent")
    return points.encode(
        color=either("datum.selected", ACCENT, EMPHASIS),
        size=either("datum.selected", 170, 80),
        opacity=either("datum.selected", 1, _OPACITY),
        description="name:N",
    ).add_params(click_on("head", "layer", "head"))
