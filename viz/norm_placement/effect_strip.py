"""Effects of the norm placement: a dot with a whisker for each kind of encoder, on an axis that all claims share."""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from ..builders.figure import Kwargs, VegaFigure, data, form, tip, value
from ..builders.palette import LETTERS, NEUTRAL, POST_LN, PRE_LN
from ..builders.theme import FIT, INK, MIDDLE, ON_DARK

HEIGHT, AXIS_HEIGHT = 40, 38  # pixels: of a row, and of the axis above all rows
_NO_PADDING = {"left": 0, "right": 0, "top": 0, "bottom": 0}
_LONG_WORDS = 310  # pixels of the axis from which the words for its directions stand in full
_MARGIN = 14  # pixels beside the axis' ends, so that no tick's number is cut
_TICKS = (0, 1, 3, 10, 30, 100, 300, 1000)


class EffectDot(NamedTuple):
    """Effect of the norm placement in one kind of encoders, in standard deviations over seeds: mean, least and largest
    over the pairs.
    """

    encoders: str
    n_seeds: int
    mean: float
    least: float
    largest: float


def axis_end(dots: Sequence[EffectDot]) -> float:
    """Length of the axis to either side of 0 that shows all the dots with their whiskers, at least 3."""
    return max(3.0, *(1.1 * max(abs(dot.least), abs(dot.largest)) for dot in dots), 0.0)


def effect_strip(dots: Sequence[EffectDot], *, end: float, title: str) -> VegaFigure:
    """The dots of one claim below each other, on an axis from -`end` to `end`; `title` begins the description for
    screen readers.
    """
    step = HEIGHT / (len(dots) + 1)
    columns: dict[str, list] = {
        "encoders": [dot.encoders for dot in dots],
        "seeds": [dot.n_seeds for dot in dots],
        "effect": [dot.mean for dot in dots],
        "least": [dot.least for dot in dots],
        "largest": [dot.largest for dot in dots],
        "larger": ["pre-LN" if dot.mean > 0 else "post-LN" for dot in dots],
        "y": [step * (index + 1) for index in range(len(dots))],
    }
    described = "; ".join(f"{dot.encoders} {dot.mean:+.1f}" for dot in dots) or "nothing to show"
    return _strip_form().with_data(
        columns,
        values={"end": end},
        in_file={"y": None},
        frames={"ticks": {"tick": _axis_ticks(end)}},
        height=HEIGHT,
        description=f"{title} Pre-LN minus post-LN compared with how much seeds differ: {described}.",
    )


def effect_axis(end: float) -> VegaFigure:
    """The axis from -`end` to `end` that all strips share, with words for its two directions."""
    return _axis_form().with_data(
        {"tick": _axis_ticks(end)},
        values={"end": end},
        frames={"word": {"end": [end]}},
        height=AXIS_HEIGHT,
        description="Axis: pre-LN minus post-LN, compared with how much seeds differ",
    )


def _axis_ticks(end: float) -> list[float]:
    return [sign * tick for tick in _TICKS if tick <= end for sign in ((1,) if tick == 0 else (-1, 1))]


def _x_channel(field: str) -> alt.X:
    expression = alt.expr(f"width - {_MARGIN}")
    scale: Kwargs = {"type": "symlog", "constant": 1, "nice": False, "range": [_MARGIN, expression]}
    return alt.X(f"{field}:Q", axis=None, scale=alt.Scale(domain=[alt.expr("-end"), value("end")], **scale))


def _y_channel() -> alt.Y:
    return alt.Y("y:Q", scale=None, axis=None)


@form
def _strip_form() -> alt.TopLevelMixin:
    ticks = alt.Chart(data("ticks")).mark_rule(color=NEUTRAL, aria=False)
    ticks = ticks.encode(
        x=_x_channel("tick"),
        opacity=alt.when("datum.tick == 0").then(alt.value(0.9)).otherwise(alt.value(0.22)),
    )
    base = alt.Chart(data()).encode(
        y=_y_channel(),
        color=alt.Color(
            "larger:N", scale=alt.Scale(domain=["pre-LN", "post-LN"], range=[PRE_LN, POST_LN]), legend=None
        ),
        tooltip=[
            tip("encoders:N"),
            tip("seeds:Q"),
            tip("effect:Q", "+.2f", "pre − post, compared with the seeds"),
            tip("least:Q", "+.2f", "least pair"),
            tip("largest:Q", "+.2f", "largest pair"),
        ],
    )
    whiskers = base.mark_rule(strokeWidth=2, opacity=0.55).encode(x=_x_channel("least"), x2="largest:Q")
    shape = alt.Shape(
        "larger:N", scale=alt.Scale(domain=["pre-LN", "post-LN"], range=["circle", "square"]), legend=None
    )
    dots = base.mark_point(filled=True, size=62, opacity=1).encode(x=_x_channel("effect"), shape=shape)
    return alt.layer(ticks, whiskers, dots).properties(autosize=FIT, padding=_NO_PADDING)


@form
def _axis_form() -> alt.TopLevelMixin:
    numbers = alt.Chart(data()).mark_text(fontSize=MIDDLE, color=INK, baseline="middle")
    numbers = numbers.encode(
        x=_x_channel("tick"), y=alt.value(AXIS_HEIGHT - 9), text=alt.Text("tick:Q", format="+~g")
    )
    zero = numbers.transform_filter("datum.tick == 0").encode(text=alt.value("0"))
    words = alt.Chart(data("word")).encode(y=alt.value(9))
    bold: Kwargs = {"fontSize": MIDDLE, "fontWeight": "bold", "baseline": "middle"}
    left = words.mark_text(**bold, align="left", color=_of_letters(POST_LN), text=_in_width("← {}post-LN"))
    right = words.mark_text(**bold, align="right", color=_of_letters(PRE_LN), text=_in_width("{}pre-LN →"))
    return alt.layer(
        numbers.transform_filter("datum.tick != 0"),
        zero,
        left.encode(x=alt.value(_MARGIN - 8)),
        right.encode(x=alt.value(alt.expr(f"width - {_MARGIN - 8}"))),
    ).properties(autosize=FIT, padding=_NO_PADDING)


def _of_letters(colour: str) -> alt.ExprRef:
    on_light, on_dark = LETTERS[colour]
    return alt.expr(f"{ON_DARK} ? '{on_dark}' : '{on_light}'")


def _in_width(text: str) -> alt.ExprRef:
    """Expression for `text` with “larger under” in place of its {}, or with nothing there if the chart is narrow."""
    long, short = text.format("larger under "), text.format("")
    return alt.expr(f"width < {_LONG_WORDS} ? '{short}' : '{long}'")
