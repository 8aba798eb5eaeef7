"""Measurements in pre-LN and post-LN encoders: a dot for each seed, and the means as numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from ..builders.chart import Column, Rows, chart, layer
from ..builders.figure import Kwargs, VegaFigure, value
from ..builders.number_format import format_number
from ..builders.palette import LETTERS, NEUTRAL, POST_LN, PRE_LN
from ..builders.theme import INK, MIDDLE, ON_DARK
from ..theory.placements import variant_channels

PLACEMENTS = ("pre-LN", "post-LN")
ACROSS = "pre-LN against post-LN"

_LINE_HEIGHT = 36  # pixels a line, as all lengths here
_TEXT_Y, _DOT_Y = 8, {"pre-LN": 22, "post-LN": 29, ACROSS: 25.5}  # within a line
# From the right edge to the end of each mean, beside the download button of a page; and to the plot.
_MEAN_OFFSETS = {ACROSS: 136, "pre-LN": 83, "post-LN": 30}
_MEANS_WIDTH = 150
_REFERENCE = "reference"


class SeedLine(NamedTuple):
    """One measurement: its label, and one value for each seed and placement.

    If `across` is given, each value compares two encoders: those in `pre` and in `post` two encoders of one placement
    with different seeds, those in `across` a pre-LN with a post-LN encoder.
    """

    label: str
    seeds: Sequence[int]
    pre: Sequence[float]
    post: Sequence[float]
    across: Sequence[float] | None = None


def seed_strip(
    lines: Sequence[SeedLine],
    *,
    title: str,
    axis: str,
    log: bool = False,
    reference: float | None = None,
    has_legend: bool = True,
) -> VegaFigure:
    """A row of dots for each of the `lines`, with its label and its means above it, all on one x axis, which is
    logarithmic if `log`; a dashed line marks the value `reference`.

    `title` describes the figure for screen readers, `axis` is the title of the axis. Without `has_legend`, something
    beside the figure must name the colours.
    """
    rows, means = [], []
    for number, line in enumerate(lines):
        values_by_kind = {"pre-LN": line.pre, "post-LN": line.post}
        if line.across is not None:
            values_by_kind[ACROSS] = line.across
        for kind, values in values_by_kind.items():
            seeds = [f"seed {seed}" for seed in line.seeds]
            names = seeds if line.across is None else ["two encoders"] * len(values)
            y = number * _LINE_HEIGHT + _DOT_Y[kind]
            rows += [(line.label, kind, name, value, y) for name, value in zip(names, values, strict=True)]
            if len(values):
                mean = format_number(float(np.mean(values)), "#.3g")
                means.append((kind, mean, number * _LINE_HEIGHT + _TEXT_Y))
    dots = pd.DataFrame(rows, columns=["measured", "variant", "seed", "value", "y"])
    height = len(lines) * _LINE_HEIGHT
    has_across = any(line.across is not None for line in lines)
    x_title = f"{axis} (grey: {ACROSS})" if has_across else axis
    columns = [
        Column("measured", dots["measured"]),
        Column("variant", dots["variant"], "placement"),
        Column("seed", dots["seed"]),
        Column("value", dots["value"], format=".4g"),
    ]
    scale_type: Kwargs = {"type": "log"} if log else {"zero": False}
    scale = alt.Scale(**scale_type, nice=False, padding=14, range=[0, alt.expr(f"width - {_MEANS_WIDTH}")])
    ticks = alt.Axis(
        titleAnchor="start",
        titleAlign="left",
        titlePadding=2,
        tickCount=5,
        labelOverlap=True,
        format="~g",
        grid=True,
        gridOpacity=0.4,
    )

    def along(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=x_title, scale=scale, axis=ticks)

    x = {"x": along("value")}
    across = {
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[value("bottom"), 0], nice=False, zero=False))
    }
    channels = variant_channels(PLACEMENTS)
    if not has_legend:
        channels = {name: channel.legend(None) for name, channel in channels.items()}
    of_one = f"datum.variant != '{ACROSS}'"
    ends = [
        {"op": "min", "field": "value", "as": "least"},
        {"op": "max", "field": "value", "as": "largest"},
    ]
    extents = Rows().where(of_one).then({"aggregate": ends, "groupby": ["variant", "y"]})
    extent = across | {"x": along("least"), "x2": "largest:Q", "color": channels["color"]}
    dot = x | across | {"tooltip": columns}
    coloured = dot | {"color": channels["color"], "shape": channels["shape"]}
    grey: Kwargs = {"color": NEUTRAL, "shape": "diamond", "aria": False}
    text: Kwargs = {"align": "left", "baseline": "middle", "fontSize": MIDDLE, "limit": 0}
    label = across | {"x": alt.value(0), "text": "label:N"}
    page = alt.expr("background || 'white'")  # around letters, where the dashed line would cross them
    colours = {
        "pre-LN": _colour_in_both_themes(PRE_LN),
        "post-LN": _colour_in_both_themes(POST_LN),
        ACROSS: INK,
    }
    return chart(
        columns,
        layer("rule", x, _REFERENCE, color=NEUTRAL, strokeDash=[4, 3], strokeWidth=1.5, aria=False),
        layer("rule", extent, extents, strokeWidth=3, opacity=0.4, aria=False),
        layer("point", coloured, where=of_one, filled=True, opacity=0.8, size=45),
        layer("point", dot, where=f"datum.variant == '{ACROSS}'", filled=True, opacity=0.9, size=40, **grey),
        layer("text", label, "texts", stroke=page, strokeWidth=4, aria=False, **text),
        layer("text", label, "texts", color=INK, **text),
        *(
            layer(
                "text",
                across | {"x": alt.value(alt.expr(f"width - {edge}")), "text": "mean:N"},
                "means",
                where=f"datum.variant == '{comparison}'",
                fontWeight="bold",
                color=colours[comparison],
                **text | {"align": "right"},
            )
            for comparison, edge in _MEAN_OFFSETS.items()
        ),
        drawing={"y": dots["y"]},
        values={"bottom": height},
        frames={
            "texts": {
                "label": [line.label for line in lines],
                "y": [line_index * _LINE_HEIGHT + _TEXT_Y for line_index in range(len(lines))],
            },
            "means": pd.DataFrame(means, columns=["variant", "mean", "y"]),
            _REFERENCE: {"value": [] if reference is None else [reference]},
        },
        height=height,
        description=f"{title}: a dot a seed, by placement of the norm.",
    )


def _colour_in_both_themes(colour: str) -> alt.ExprRef:
    """The colour of letters, as a Vega expression, that stand for the palette's `colour` on a light and on a dark
    page.
    """
    on_light, on_dark = LETTERS[colour]
    return alt.expr(f"{ON_DARK} ? '{on_dark}' : '{on_light}'")
