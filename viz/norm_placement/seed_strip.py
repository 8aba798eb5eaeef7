"""Measurements under two placements of the norm, a dot for each seed."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, need_shape, value
from ..builders.palette import NEUTRAL
from ..builders.theme import INK, SMALL
from ..theory.placements import variant_channels

PLACEMENTS = ("pre-LN", "post-LN")
ACROSS = "pre-LN against post-LN"

_STEP = 40  # pixels a line, as all lengths here
_TEXT, _DOTS = 9, {"pre-LN": 22, "post-LN": 29, ACROSS: 25.5}  # within a line
_AXIS, _LEGEND = 42, 32  # below the lines: ticks and title; the names of the colours
_REFERENCE = "reference"


class SeedLine(NamedTuple):
    """One measurement: its label, and one value for each seed.

    If `across` is given, each value compares two encoders: of one placement and two seeds in `pre` and `post`, of the
    two placements in `across`.
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
) -> VegaFigure:
    """The lines of dots on one axis, which is logarithmic if `log`; a dashed line marks the value `reference`.

    `title` describes the figure for screen readers, `axis` is the title of the axis. Raises ValueError where seeds and
    values of a line differ in number.
    """
    rows = []
    for number, line in enumerate(lines):
        seeds = [f"seed {seed}" for seed in line.seeds]
        values_by_kind = [("pre-LN", line.pre, seeds), ("post-LN", line.post, seeds)]
        if line.across is None:
            need_shape((len(seeds),), pre=line.pre, post=line.post)
        else:
            values_by_kind = [
                (comparison, values, ["two encoders"] * len(values))
                for comparison, values, _ in values_by_kind
            ]
            values_by_kind.append((ACROSS, line.across, ["two encoders"] * len(line.across)))
        for comparison, values, names in values_by_kind:
            y = number * _STEP + _DOTS[comparison]
            rows += [
                (line.label, comparison, name, value, y) for name, value in zip(names, values, strict=True)
            ]
    height = len(lines) * _STEP
    has_across = any(line.across is not None for line in lines)
    x_title = f"{axis} (grey: {ACROSS})" if has_across else axis
    measured, placements, seeds_of, numbers, heights = zip(*rows, strict=True) if rows else [()] * 5
    columns = [
        Column("measured", measured),
        Column("variant", placements, "placement"),
        Column("seed", seeds_of),
        Column("value", numbers, format=".4g"),
    ]
    scale_type: Kwargs = {"type": "log"} if log else {"zero": False}
    scale = alt.Scale(**scale_type, nice=False, padding=14)
    ticks = alt.Axis(
        titleAnchor="end", tickCount=5, labelOverlap=True, format="~g", grid=True, gridOpacity=0.4
    )

    def along(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=f"{x_title} · larger →", scale=scale, axis=ticks)

    x = {"x": along("value")}
    across = {
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[value("bottom"), 0], nice=False, zero=False))
    }
    channels = variant_channels(PLACEMENTS)
    of_one = f"datum.variant != '{ACROSS}'"
    extents: list[Kwargs] = [
        {"filter": of_one},
        {
            "aggregate": [
                {"op": "min", "field": "value", "as": "least"},
                {"op": "max", "field": "value", "as": "largest"},
            ],
            "groupby": ["variant", "y"],
        },
    ]
    extent = across | {"x": along("least"), "x2": "largest:Q", "color": channels["color"]}
    dot = x | across | {"tooltip": columns}
    coloured = dot | {"color": channels["color"], "shape": channels["shape"]}
    grey: Kwargs = {"color": NEUTRAL, "shape": "diamond", "aria": False}
    text: Kwargs = {"align": "left", "baseline": "middle", "fontSize": SMALL, "color": INK, "limit": 0}
    return chart(
        columns,
        layer("rule", x, _REFERENCE, color=NEUTRAL, strokeDash=[4, 3], strokeWidth=1.5, aria=False),
        layer("rule", extent, transform=extents, strokeWidth=3, opacity=0.4, aria=False),
        layer("point", coloured, where=of_one, filled=True, opacity=0.9, size=60),
        layer("point", dot, where=f"datum.variant == '{ACROSS}'", filled=True, opacity=0.9, size=40, **grey),
        layer("text", across | {"x": alt.value(0), "text": "label:N"}, "texts", **text),
        drawing={"y": heights},
        values={"bottom": height},
        frames={
            "texts": {
                "label": [line.label for line in lines],
                "y": [line_index * _STEP + _TEXT for line_index in range(len(lines))],
            },
            _REFERENCE: {"value": [] if reference is None else [reference]},
        },
        height=height + _AXIS + _LEGEND,
        description=f"{title}: a dot a seed, by placement of the norm.",
    )
