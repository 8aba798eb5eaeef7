"""Measurements in pre-LN and post-LN encoders, a dot for each seed; and the effects of the norm placement, in
standard deviations over seeds, on one axis.
"""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from ..builders.chart import Column, Rows, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, value
from ..builders.palette import LETTERS, NEUTRAL, POST_LN, PRE_LN
from ..builders.picture_marks import pixel_y
from ..builders.theme import INK, MIDDLE, ON_DARK, SMALL
from ..theory.placements import variant_channels

PLACEMENTS = ("pre-LN", "post-LN")
ACROSS = "pre-LN against post-LN"

_STEP = 40  # pixels a line, as all lengths here
_TEXT, _DOTS = 9, {"pre-LN": 22, "post-LN": 29, ACROSS: 25.5}  # within a line
_AXIS, _LEGEND = 42, 32  # below the lines: ticks and title; the names of the colours
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
) -> VegaFigure:
    """A row of dots for each of the `lines`, all on one x axis, which is logarithmic if `log`; a dashed line marks
    the value `reference`.

    `title` describes the figure for screen readers, `axis` is the title of the axis.
    """
    rows = []
    for number, line in enumerate(lines):
        seeds = [f"seed {seed}" for seed in line.seeds]
        values_by_kind = [("pre-LN", line.pre, seeds), ("post-LN", line.post, seeds)]
        if line.across is not None:
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
    ends = [
        {"op": "min", "field": "value", "as": "least"},
        {"op": "max", "field": "value", "as": "largest"},
    ]
    extents = Rows().where(of_one).then({"aggregate": ends, "groupby": ["variant", "y"]})
    extent = across | {"x": along("least"), "x2": "largest:Q", "color": channels["color"]}
    dot = x | across | {"tooltip": columns}
    coloured = dot | {"color": channels["color"], "shape": channels["shape"]}
    grey: Kwargs = {"color": NEUTRAL, "shape": "diamond", "aria": False}
    text: Kwargs = {"align": "left", "baseline": "middle", "fontSize": SMALL, "color": INK, "limit": 0}
    return chart(
        columns,
        layer("rule", x, _REFERENCE, color=NEUTRAL, strokeDash=[4, 3], strokeWidth=1.5, aria=False),
        layer("rule", extent, extents, strokeWidth=3, opacity=0.4, aria=False),
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


HEIGHT, AXIS_HEIGHT = 40, 38  # pixels: of a row, and of the axis above all rows
_NO_PADDING = {"left": 0, "right": 0, "top": 0, "bottom": 0}
_MARGIN = 14  # pixels beside the axis' ends, so that no tick's number is cut
_TICKS = (0, 1, 3, 10, 30, 100, 300, 1000)


class EffectDot(NamedTuple):
    """The effect of the norm placement on one measurement in one kind of encoders, in standard deviations over seeds:
    mean, least and largest over pairs of a pre-LN and a post-LN encoder.

    If the effect is the distance of one placement from a `Bound`, they are those over the seeds of this placement.
    """

    encoders: str
    n_seeds: int
    mean: float
    least: float
    largest: float


class Bound(NamedTuple):
    """A fixed value with which a claim compares one placement, "pre-LN" or "post-LN", instead of comparing the two
    placements.
    """

    placement: str
    value: float


def axis_end(dots: Sequence[EffectDot]) -> float:
    """The end of a symmetric axis that has room for all `dots` and their whiskers (least to largest), at least 3."""
    return max(3.0, *(1.1 * max(abs(dot.least), abs(dot.largest)) for dot in dots), 0.0)


def effect_strip(
    dots: Sequence[EffectDot], *, end: float, title: str, bound: Bound | None = None
) -> VegaFigure:
    """The effects of one claim as dots with whiskers, one below the other, on an axis from -`end` to `end`; `title`
    begins the description for screen readers.

    If the effects are distances from a `bound`, the dashed line at 0 stands for the bound, and words at both ends say
    so.
    """
    compared = "Pre-LN − post-LN" if bound is None else f"{bound.placement} − {bound.value:g}"
    step = HEIGHT / (len(dots) + 1)
    columns = [
        Column("encoders", [dot.encoders for dot in dots]),
        Column("seeds", np.array([dot.n_seeds for dot in dots], int)),
        Column(
            "effect", [dot.mean for dot in dots], f"{compared}, in units of how much seeds differ", "+.2f"
        ),
        Column("least", [dot.least for dot in dots], "least", "+.2f"),
        Column("largest", [dot.largest for dot in dots], "largest", "+.2f"),
        Column(
            "larger",
            [bound.placement if bound else "pre-LN" if dot.mean > 0 else "post-LN" for dot in dots],
            None,
        ),
    ]
    names = ["pre-LN", "post-LN"]
    colours, shapes = (
        alt.Scale(domain=names, range=range_) for range_ in ([PRE_LN, POST_LN], ["circle", "square"])
    )
    base = {
        "y": pixel_y("y"),
        "color": alt.Color("larger:N", scale=colours, legend=None),
        "tooltip": columns,
    }
    tick = {"x": _x_channel("tick"), "opacity": either("datum.tick == 0", 0.9, 0.22)}
    words = []
    if bound is not None:
        tick["strokeDash"] = either("datum.tick == 0", [4, 3], [1, 0])
        letters: Kwargs = {"fontSize": SMALL, "color": INK, "baseline": "middle"}
        words = [
            layer("text", {"x": x, "y": alt.value(8)}, "bound", text=text, align=align, **letters)
            for x, text, align in (
                (alt.value(0), f"← below {bound.value:g}", "left"),
                (alt.value(alt.expr("width")), f"above {bound.value:g} →", "right"),
            )
        ]
    whisker = {"x": _x_channel("least"), "x2": "largest:Q"}
    dot_channels = {"x": _x_channel("effect"), "shape": alt.Shape("larger:N", scale=shapes, legend=None)}
    described = "; ".join(f"{dot.encoders} {dot.mean:+.1f}" for dot in dots) or "nothing to show"
    return chart(
        columns,
        layer("rule", tick, "ticks", color=NEUTRAL, aria=False),
        layer("rule", base | whisker, strokeWidth=2, opacity=0.55),
        layer("point", base | dot_channels, filled=True, size=62, opacity=1),
        *words,
        drawing={"y": [step * (index + 1) for index in range(len(dots))]},
        values={"end": end},
        frames={
            "ticks": {"tick": _axis_ticks(end)},
            **({"bound": {"value": [bound.value]}} if bound else {}),
        },
        height=HEIGHT,
        padding=_NO_PADDING,
        description=f"{title} {compared}, in units of how much seeds differ: {described}.",
    )


def effect_axis(end: float) -> VegaFigure:
    """The axis from -`end` to `end` that all figures of `effect_strip` share, with its unit and words for its two
    directions.
    """
    tick = {"x": _x_channel("tick"), "y": alt.value(AXIS_HEIGHT - 9)}
    number = {"text": alt.Text("tick:Q", format="+~g")}
    plain: Kwargs = {"fontSize": MIDDLE, "color": INK, "baseline": "middle"}
    bold: Kwargs = {"fontSize": MIDDLE, "fontWeight": "bold", "baseline": "middle"}
    left, right = alt.value(_MARGIN - 8), alt.value(alt.expr(f"width - {_MARGIN - 8}"))
    word = {"y": alt.value(9)}
    return chart(
        [Column("tick", _axis_ticks(end))],
        layer("text", tick | number, where="datum.tick != 0", **plain),
        layer("text", tick | {"text": alt.value("0")}, where="datum.tick == 0", **plain),
        layer(
            "text",
            word | {"x": left},
            "word",
            **bold,
            align="left",
            color=_letter_colour(POST_LN),
            text="← larger in post-LN",
        ),
        layer(
            "text",
            word | {"x": right},
            "word",
            **bold,
            align="right",
            color=_letter_colour(PRE_LN),
            text="larger in pre-LN →",
        ),
        values={"end": end},
        frames={"word": {"end": [end]}},
        height=AXIS_HEIGHT,
        padding=_NO_PADDING,
        description="Axis: pre-LN minus post-LN, divided by how much encoders of one placement differ from seed to seed",
    )


def _axis_ticks(end: float) -> list[float]:
    """The ticks of an axis from -`end` to `end`."""
    return [sign * tick for tick in _TICKS if tick <= end for sign in ((1,) if tick == 0 else (-1, 1))]


def _x_channel(field: str) -> alt.X:
    """The x channel of `field`, on an axis that is linear near 0 and logarithmic beyond."""
    expression = alt.expr(f"width - {_MARGIN}")
    scale: Kwargs = {"type": "symlog", "constant": 1, "nice": False, "range": [_MARGIN, expression]}
    return alt.X(f"{field}:Q", axis=None, scale=alt.Scale(domain=[alt.expr("-end"), value("end")], **scale))


def _letter_colour(colour: str) -> alt.ExprRef:
    """The colour of letters, as a Vega expression, that stand for the palette's `colour` on a light and on a dark
    page.
    """
    on_light, on_dark = LETTERS[colour]
    return alt.expr(f"{ON_DARK} ? '{on_dark}' : '{on_light}'")
