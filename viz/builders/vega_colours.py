"""Colour scales and colour bars of Altair figures."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from .figure import Kwargs, value
from .palette import DIFFERENCE, WEIGHTS, WeightScale
from .theme import ON_DARK

# Numbers at the ends of a legend of `colour`, and in the middle of a signed one.
ENDS, SIGNED_ENDS = alt.ExprRef("[0, largest]"), alt.ExprRef("[-largest, 0, largest]")
EVEN = "▲"  # marks the evenly spread weight on every legend of weights
BELOW = "\n"  # before a number: it stands below the line of the mark, which so covers no number


def colour(field: str, *, signed: bool, legend: alt.Legend | None = None) -> alt.Color:
    """The colour channel of `field`, from 0 (from -`largest` if `signed`) to `largest`, an entry of the chart's
    `values`.
    """
    domain = [alt.ExprRef("-largest") if signed else 0, value("largest")]
    # Vega would mix two colours by their hue, and Plotly mixes them in RGB: one weight must not have two colours.
    scale = alt.Scale(
        domain=domain, range=list(WEIGHTS), interpolate="rgb", clamp=True, reverse=alt.expr(ON_DARK)
    )
    if signed:
        scale = alt.Scale(domain=domain, range=list(DIFFERENCE), interpolate="rgb", clamp=True)
    return alt.Color(f"{field}:Q", scale=scale, legend=legend)


def colour_legend(title: str | list[str], ticks: Sequence[float] | alt.ExprRef, **options: Any) -> alt.Legend:
    """A colour bar with a `title` and numbers at `ticks`; `options` are further options of Altair's legend."""
    defaults: Kwargs = {"orient": "bottom", "gradientLength": 180, "gradientThickness": 8}
    return alt.Legend(title=title, titleLimit=0, direction="horizontal", values=ticks, **defaults | options)


def number_at_end(sign: str = "") -> str:
    """The Vega expression of the number at the end of a colour bar, with this `sign` before numbers above 0."""
    return f"datum.value ? format(datum.value, '{sign}.2~g') : '0'"


def named_legend(title: str | list[str], ends: tuple[str, str], *, signed: bool) -> alt.Legend:
    """A colour bar from -`largest` (from 0 unless `signed`) to `largest`, whose two ends have these names (`ends`)."""
    number = "format(datum.value, '+.2~g')" if signed else "format(datum.value, '.2~g')"
    low, high = (f"{number} + ' {word}'" for word in ends)
    label = f"datum.value > 0 ? {high} : {f'datum.value < 0 ? {low} : ' if signed else ''}"
    label += "'0'" if signed else f"'0 {ends[0]}'"
    ticks = SIGNED_ENDS if signed else alt.ExprRef("[0, largest]")
    return colour_legend(title, ticks, labelExpr=label, labelOverlap=False)


class WeightLegend(NamedTuple):
    """Title, end and ticks of the colour bar of attention weights, the same for Altair's and Plotly's figures."""

    title: tuple[str, ...]  # what the colours show, and below that what `EVEN` means
    largest: float  # end of the scale
    # by weight: `EVEN` alone in place of a number, or `BELOW` or another text before the number
    ticks: dict[float, str]

    @property
    def values(self) -> Kwargs:
        """The `values` that a chart with `attention_colour` needs."""
        marks = list(self.ticks.values())
        return {"largest": self.largest, "legend_ticks": list(self.ticks), "legend_marks": marks}


def weight_legend(scale: WeightScale, n_keys: int, keys: str = "") -> WeightLegend:
    """The legend of weights on this `scale`, with a tick at 1/`n_keys`, the weight of each key if all were equal.

    `keys` says which keys are counted. The tick is missing if there is a single key, or if the rows of weights do not
    sum to 1.
    """
    title, ticks = [f"{scale.what}, {scale.reach}"], {0.0: "", scale.largest: ""}
    if scale.shares and n_keys > 1:
        even = 1 / n_keys
        title.append(f"{EVEN} same weight for all{keys and f' {keys}'}: 1/{n_keys} = {even:.2g}")
        if math.isclose(even, scale.largest, rel_tol=1e-4):  # the number there stands for both
            ticks[scale.largest] = f"{EVEN} "
        elif even < scale.largest:
            ticks = {0.0: BELOW, even: EVEN, scale.largest: BELOW}
    if scale.all_zero:
        ticks = {0.0: ""}
    return WeightLegend(tuple(title), scale.largest, ticks)


def attention_colour(title: tuple[str, ...]) -> alt.Color:
    """The colour channel of the field `weight`, with a legend if there is a `title` (a tuple of lines).

    The chart needs the `values` of a `WeightLegend`.
    """
    mark = "legend_marks[indexof(legend_ticks, datum.value)]"
    number = "format(datum.value, '.3~g')"
    label = f"{mark} == '{EVEN}' ? '{EVEN}' : {mark} == '\\n' ? ['', {number}] : {mark} + {number}"
    options = Kwargs(labelExpr=label, labelOverlap=False, offset=8, padding=0)
    bar = colour_legend(list(title), value("legend_ticks"), **options) if title else None
    return colour("weight", signed=False, legend=bar)
