"""A scatter plot with every head as a point at two of its measures, coloured by its layer."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
from PIL import ImageColor

from ..builders.chart import Column, chart, dots, layer
from ..builders.figure import VegaFigure, value
from ..builders.label_placement import PLACED, LabelPlacement, placement_columns
from ..builders.number_format import head_name
from ..builders.palette import ACCENT
from ..builders.theme import INK, SMALL, heading

_HEIGHT = 340
_TYPICAL_WIDTH = 600  # pixels of the plot, in a file; on a page it is wider
_LETTER = 0.52  # of the size of the letters: the width of one, in the mean
_PLACEMENTS = (
    LabelPlacement("left", 8, -10),
    LabelPlacement("left", 8, 10),
    LabelPlacement("right", -8, -10),
    LabelPlacement("right", -8, 10),
)
_RAMP = (
    "#0f8b8d",
    "#a487ba",
    "#ac06c7",
)  # seen on white and on black; none of them is a placement of the norm
_ALL_NAMED = 40  # heads: with more of them only the chosen one has its name beside it


def head_scatter(
    across: np.ndarray,
    up: np.ndarray,
    *,
    titles: tuple[str, str],
    selected: tuple[int, int],
    roles: Sequence[str],
    source: str,
) -> VegaFigure:
    """A point for each head, at its entry in `across` [layer, head] on the x axis and in `up` [layer, head] on the y
    axis, which have these `titles`; the `selected` (layer, head) is green.

    The tooltip has the head's entry in `roles`, which are in the order of layers; `source` says what the measures
    were computed on. A head with NaN in one of the two has no point. A click sets the point selection `head`, fields
    `layer` and `head`.
    """
    heads = list(np.ndindex(across.shape))
    frame = pd.DataFrame(heads, columns=["layer", "head"]).assign(
        x=across.ravel().astype(float),
        y=up.ravel().astype(float),
        name=[head_name(*index) for index in heads],
        role=[role or "none" for role in roles],
        selected=[index == selected for index in heads],
    )
    frame = frame.sort_values("selected", kind="stable")  # no other point lies on the chosen one
    frame["label"] = frame["name"].where(frame["selected"] | (len(frame) <= _ALL_NAMED), "")
    drawn = frame[np.isfinite(frame["x"]) & np.isfinite(frame["y"])]
    axis_ends = _axis_ends("x", drawn["x"].to_numpy()) | _axis_ends("y", drawn["y"].to_numpy())
    left_out = len(frame) - len(drawn)
    missing = f" {left_out} without one of the two." if left_out else ""
    columns = [
        Column("layer", drawn["layer"], None),
        Column("head", drawn["head"], None),
        Column("name", drawn["name"], "head"),
        Column("x", drawn["x"], titles[0], ".3~g", titles[0]),
        Column("y", drawn["y"], titles[1], ".3~g", titles[1]),
        Column("role", drawn["role"]),
    ]
    colours = alt.Scale(domain=list(range(len(across))), range=_layer_colours(len(across)))
    legend = alt.Legend(title="layer", symbolOpacity=1)
    by_layer = alt.Color("layer:O", scale=colours, legend=legend)
    position = {
        name: channel(
            f"{name}:Q",
            title=title,
            scale=alt.Scale(domain=[value(f"{name}_low"), value(f"{name}_high")], nice=False),
            axis=alt.Axis(tickCount=8),
        )
        for name, channel, title in zip("xy", (alt.X, alt.Y), titles, strict=True)
    }
    points = position | {"color": alt.condition("datum.selected", alt.value(ACCENT), by_layer)}
    return chart(
        columns,
        layer("text", position | {"text": "label:N"}, **PLACED, fontSize=SMALL, color=INK, aria=False),
        dots(points, columns, ("head", "layer", "head"), sizes=(220, 110), stroke="transparent", opacity=0.9),
        drawing={
            "selected": drawn["selected"],
            "label": drawn["label"],
            **_name_placements(drawn, axis_ends),
        },
        values=axis_ends,
        height=_HEIGHT,
        autosize="fit-x",
        title=heading(f"{titles[1]} by {titles[0]}, {source}"),
        description=f"{len(drawn)} heads by {titles[0]} across and {titles[1]} up, {source}; {head_name(*selected)} "
        f"is marked.{missing}",
    )


def _name_placements(drawn: pd.DataFrame, ends: Mapping[str, float]) -> dict[str, list]:
    """The columns that place the name of each point, computed for a plot of typical width with axes that end at
    `ends`.
    """
    across, up = (
        (drawn[axis] - ends[f"{axis}_low"]) / (ends[f"{axis}_high"] - ends[f"{axis}_low"])
        for axis in ("x", "y")
    )
    pixels = np.stack([across * _TYPICAL_WIDTH, (1 - up) * _HEIGHT], axis=-1)
    widths = [len(name) * _LETTER * SMALL for name in drawn["label"]]
    return placement_columns(pixels, widths, SMALL, _PLACEMENTS)


def _axis_ends(axis: str, values: np.ndarray) -> dict[str, float]:
    """The chart's values "x_low" and "x_high" for the `axis` "x": its two ends, with a margin beyond the outermost
    `values`; the axis starts at 0 if the values are near 0.
    """
    if not len(values):
        return {f"{axis}_low": 0.0, f"{axis}_high": 1.0}
    lowest, highest = float(values.min()), float(values.max())
    margin = 0.06 * (highest - lowest) or 0.1 * abs(highest) or 0.1
    start = 0.0 if 0 <= lowest < 0.4 * highest else lowest - margin
    return {f"{axis}_low": start, f"{axis}_high": highest + margin}


def _layer_colours(n: int) -> list[str]:
    """A colour for each of `n` layers, evenly spaced along `_RAMP`."""
    ramp = np.array([ImageColor.getrgb(colour) for colour in _RAMP], float)
    stops = np.linspace(0, len(ramp) - 1, max(n, 2))[:n]
    mixed = np.stack([np.interp(stops, range(len(ramp)), channel) for channel in ramp.T], axis=-1)
    return ["#{:02x}{:02x}{:02x}".format(*map(round, channels)) for channels in mixed]
