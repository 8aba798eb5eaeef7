"""Every head of a checkpoint as a point, with the chosen head marked."""

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Channels, Column, Layer, chart, dots, layer
from ..builders.figure import Kwargs, VegaFigure, either, tip, value
from ..builders.number_format import head_name
from ..builders.palette import NEUTRAL
from ..builders.theme import INK, heading_with_reading

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
    x_axis = alt.Axis(labelAngle=0, labelExpr="'L' + datum.label", grid=True)
    position: Kwargs = {
        "x": alt.X("layer:O", title="layer", axis=x_axis, scale=alt.Scale(paddingInner=0.1)),
        "xOffset": alt.XOffset("head:O", scale=alt.Scale(paddingOuter=0.3)),
        "y": alt.Y(
            "variance:Q",
            title="variance of q·k",
            scale=alt.Scale(type="log", domain=[value("low"), value("high")], nice=False),
            axis=alt.Axis(values=_ROUND, format="~g", labelOverlap=True),
        ),
    }
    tooltip = [
        tip("name:N", title="head"),
        tip("variance:Q", ".4~g", "variance of q·k"),
        tip("mean:Q", ".4~g", "mean of q·k"),
    ]
    expected = tip("d_k:Q", title="components of variance 1 would give")
    line: Kwargs = {"y": "d_k:Q", "tooltip": expected}
    return chart(
        _columns_of(frame),
        layer("rule", line, "line", strokeDash=[6, 4], strokeWidth=1.5, color=INK),
        _head_dots(position, tooltip),
        frames={"line": {"d_k": [d_k]}},
        values={"low": float(min(lowest, d_k)) / 1.5, "high": float(max(highest, d_k)) * 1.5},
        height=_HEIGHT,
        title=heading_with_reading("Variance of q·k, every head", reading),
        description=f"Variance of q·k for {len(frame)} heads by layer; {head_name(*selected)} is marked.",
    )


def with_and_without_scale(
    heads: pd.DataFrame, measure: str, *, title: str, reading: str, axis: str, selected: tuple[int, int]
) -> VegaFigure:
    """A point for each head: its `measure` with the scale 1/√d_k across, and without it (column `measure`_unscaled)
    up.

    On the dashed diagonal both are equal. `axis` names the measure on both axes. A click is as in
    `variance_of_heads`.
    """
    axis_end = 1.05 * (float(np.nanmax(heads[[measure, f"{measure}_unscaled"]].to_numpy(), initial=0)) or 1.0)
    scale = alt.Scale(domain=[0, value("end")], nice=False)
    position: Kwargs = {
        "x": alt.X(f"{measure}:Q", title=f"{axis}, with 1/√d_k", scale=scale),
        "y": alt.Y(f"{measure}_unscaled:Q", title=f"{axis}, without", scale=scale),
    }
    tooltip = [
        tip("name:N", title="head"),
        tip(f"{measure}:Q", ".4f", "with 1/√d_k"),
        tip(f"{measure}_unscaled:Q", ".4f", "without"),
    ]
    line: Kwargs = {"strokeDash": [6, 4], "strokeWidth": 1.5, "color": NEUTRAL, "aria": False}
    return chart(
        _columns_of(_with_selected_last(heads, selected)),
        layer("line", {"x": "with:Q", "y": "without:Q"}, "diagonal", **line),
        _head_dots(position, tooltip),
        frames={"diagonal": {"with": [0, axis_end], "without": [0, axis_end]}},
        values={"end": axis_end},
        height=_HEIGHT,
        title=heading_with_reading(title, reading),
        description=f"{title} of {len(heads)} heads, with and without the scale; {head_name(*selected)} is marked.",
    )


def _with_selected_last(heads: pd.DataFrame, selected: tuple[int, int]) -> pd.DataFrame:
    """The rows with a column for the heads' names; the selected head comes last and is drawn above the others."""
    indices = list(zip(heads["layer"].tolist(), heads["head"].tolist(), strict=True))
    marked = heads.assign(
        name=[head_name(*index) for index in indices], selected=[index == selected for index in indices]
    )
    return marked.iloc[sorted(range(len(indices)), key=lambda row: indices[row] == selected)]


def _columns_of(frame: pd.DataFrame) -> list[Column]:
    in_file = {"entropy_unscaled": "entropy, unscaled", "selected": None}
    return [Column(name, frame[name], None, "", in_file.get(name, "")) for name in frame.columns]


def _head_dots(position: Channels, tooltip: list[alt.Tooltip]) -> Layer:
    opacity: Kwargs = {"opacity": either("datum.selected", 1, _OPACITY)}
    click = ("head", "layer", "head")
    return dots({**position, **opacity}, tooltip, click, sizes=(170, 80), stroke="transparent")
