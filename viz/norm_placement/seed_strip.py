"""Measurements under two placements of the norm, a dot for each seed."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from ..builders.figure import Kwargs, VegaFigure, data, form, need_shape, tip, value
from ..builders.palette import NEUTRAL
from ..builders.theme import FIT, INK, SMALL
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
    columns = ["measured", "variant", "seed", "value", "y"]
    height = len(lines) * _STEP
    texts = {
        "label": [line.label for line in lines],
        "y": [line_index * _STEP + _TEXT for line_index in range(len(lines))],
    }
    has_across = any(line.across is not None for line in lines)
    return _chart_form(log, f"{axis} (grey: {ACROSS})" if has_across else axis).with_data(
        {name: [row[index] for row in rows] for index, name in enumerate(columns)},
        values={"bottom": height},
        in_file={"y": None},
        frames={"texts": texts, _REFERENCE: {"value": [] if reference is None else [reference]}},
        height=height + _AXIS + _LEGEND,
        description=f"{title}: a dot a seed, by placement of the norm.",
    )


@form
def _chart_form(log: bool, axis: str) -> alt.TopLevelMixin:
    scale_type: Kwargs = {"type": "log"} if log else {"zero": False}
    scale = alt.Scale(**scale_type, nice=False, padding=14)
    ticks = alt.Axis(
        titleAnchor="end", tickCount=5, labelOverlap=True, format="~g", grid=True, gridOpacity=0.4
    )

    def along(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=f"{axis} · larger →", scale=scale, axis=ticks)

    x = along("value")
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[value("bottom"), 0], nice=False, zero=False))
    channels = variant_channels(PLACEMENTS)
    tooltip = [tip("measured:N"), tip("variant:N", title="placement"), tip("seed:N"), tip("value:Q", ".4g")]
    base = alt.Chart(data()).encode(x=x, y=y)
    of_one_placement = base.transform_filter(f"datum.variant != '{ACROSS}'")
    extents = (
        of_one_placement.transform_aggregate(
            least="min(value)", largest="max(value)", groupby=["variant", "y"]
        )
        .mark_rule(strokeWidth=3, opacity=0.4, aria=False)
        .encode(x=along("least"), x2="largest:Q", color=channels["color"])
    )
    dots, between = (marks.encode(tooltip=tooltip) for marks in _dot_layers(base, channels, 0.9, 60, 40))
    text = alt.Chart(data("texts")).mark_text(
        align="left", baseline="middle", fontSize=SMALL, color=INK, limit=0
    )
    text = text.encode(x=alt.value(0), y=y, text="label:N")
    about = alt.Chart(data(_REFERENCE)).mark_rule(
        color=NEUTRAL, strokeDash=[4, 3], strokeWidth=1.5, aria=False
    )
    return alt.layer(about.encode(x=x), extents, dots, between, text).properties(autosize=FIT)


def _dot_layers(
    base: alt.Chart, channels: Kwargs, opacity: float, size: int, size_across: int
) -> tuple[alt.Chart, alt.Chart]:
    """Two layers: points of single placements in the colour and shape of the placement, and grey points that compare
    two placements.
    """
    dots = base.transform_filter(f"datum.variant != '{ACROSS}'")
    dots = dots.mark_point(filled=True, opacity=opacity, size=size)
    between = base.transform_filter(f"datum.variant == '{ACROSS}'")
    grey = between.mark_point(
        filled=True, opacity=opacity, size=size_across, color=NEUTRAL, shape="diamond", aria=False
    )
    return dots.encode(color=channels["color"], shape=channels["shape"]), grey
