"""Every head as a point at two of its numbers, coloured by its layer."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd
from PIL import ImageColor

from ..builders.cells import head_cells
from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip, value
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
    """A point for each head at two numbers [layer, head], whose `titles` are on the axes; the `selected` (layer,
    head) is green.

    The tooltip has `roles`, one for each head layer by layer; `source` says what the numbers were measured on. A head
    that lacks one of the two numbers has no point. A click sets the point selection `head`, fields `layer` and
    `head`. Raises ValueError where the shapes differ.
    """
    need_shape(across.shape, across=across, up=up)
    need_shape((across.size,), roles=roles)
    frame = head_cells(across, selected, called="x")
    frame["y"] = up.ravel().astype(float)[frame.index]
    frame["role"] = [roles[row] or "none" for row in frame.index]
    frame["label"] = frame["name"].where(frame["selected"] | (len(frame) <= _ALL_NAMED), "")
    drawn = frame[np.isfinite(frame["x"]) & np.isfinite(frame["y"])]
    axis_ends = {
        f"{axis}_{end_name}": end_value
        for axis in ("x", "y")
        for end_name, end_value in _axis_ends(drawn[axis].to_numpy())
    }
    drawn = drawn.assign(**_name_placements(drawn, axis_ends))
    left_out = len(frame) - len(drawn)
    missing = f" {left_out} without one of the two." if left_out else ""
    return _chart_form(len(across), *titles).with_data(
        drawn[["layer", "head", "name", "x", "y", "role", "selected", "label", "align", "dx", "dy"]],
        values=axis_ends,
        in_file={"x": titles[0], "y": titles[1], **dict.fromkeys(("align", "dx", "dy"))},
        height=_HEIGHT,
        title=heading(f"{titles[1]} by {titles[0]}, {source}"),
        description=f"{len(drawn)} heads by {titles[0]} across and {titles[1]} up, {source}; {head_name(*selected)} "
        f"is marked.{missing}",
    )


@form
def _chart_form(n_layers: int, across: str, up: str) -> alt.TopLevelMixin:
    colours = alt.Scale(domain=list(range(n_layers)), range=_layer_colours(n_layers))

    def axis(name: str, title: str) -> dict:
        scale = alt.Scale(domain=[value(f"{name}_low"), value(f"{name}_high")], nice=False)
        return {"title": title, "scale": scale, "axis": alt.Axis(tickCount=8)}

    base = alt.Chart(data()).encode(x=alt.X("x:Q", **axis("x", across)), y=alt.Y("y:Q", **axis("y", up)))
    points = base.mark_point(filled=True, cursor="pointer", stroke="transparent", opacity=0.9).encode(
        color=alt.condition(
            "datum.selected",
            alt.value(ACCENT),
            alt.Color("layer:O", scale=colours, legend=alt.Legend(title="layer", symbolOpacity=1)),
        ),
        size=either("datum.selected", 220, 110),
        description="name:N",
        tooltip=[
            tip("name:N", title="head"),
            tip("x:Q", ".3~g", across),
            tip("y:Q", ".3~g", up),
            tip("role:N"),
        ],
    )
    text = base.mark_text(**PLACED, fontSize=SMALL, color=INK, aria=False).encode(text="label:N")
    return alt.layer(text, points.add_params(click_on("head", "layer", "head"))).properties(autosize="fit-x")


def _name_placements(drawn: pd.DataFrame, ends: Mapping[str, float]) -> dict[str, list]:
    """Columns with the place of each name, if the plot has its typical width."""
    across, up = (
        (drawn[axis] - ends[f"{axis}_low"]) / (ends[f"{axis}_high"] - ends[f"{axis}_low"])
        for axis in ("x", "y")
    )
    pixels = np.stack([across * _TYPICAL_WIDTH, (1 - up) * _HEIGHT], axis=-1)
    widths = [len(name) * _LETTER * SMALL for name in drawn["label"]]
    return placement_columns(pixels, widths, SMALL, _PLACEMENTS)


def _axis_ends(values: np.ndarray) -> list[tuple[str, float]]:
    """Names and values of an axis's ends, with a margin beside the outermost points; it starts at 0 if values are near 0."""
    if not len(values):
        return [("low", 0.0), ("high", 1.0)]
    lowest, highest = float(values.min()), float(values.max())
    margin = 0.06 * (highest - lowest) or 0.1 * abs(highest) or 0.1
    return [("low", 0.0 if 0 <= lowest < 0.4 * highest else lowest - margin), ("high", highest + margin)]


def _layer_colours(n: int) -> list[str]:
    """A colour for each of `n` layers, evenly spaced along `_RAMP`."""
    ramp = np.array([ImageColor.getrgb(colour) for colour in _RAMP], float)
    stops = np.linspace(0, len(ramp) - 1, max(n, 2))[:n]
    mixed = np.stack([np.interp(stops, range(len(ramp)), channel) for channel in ramp.T], axis=-1)
    return ["#{:02x}{:02x}{:02x}".format(*map(round, channels)) for channels in mixed]
