"""Colour scales and colour bars of Altair figures."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from .figure import Kwargs, value
from .palette import DIFFERENCE, WEIGHT, WEIGHTS, WeightScale
from .theme import ON_DARK

# Numbers at the ends of a legend of `colour`, and in the middle of a signed one.
ENDS, SIGNED_ENDS = alt.ExprRef("[0, largest]"), alt.ExprRef("[-largest, 0, largest]")
EVEN = "▲"  # marks the evenly spread weight on every legend of weights
# As shares of a colour bar: nearer to an end than this, the mark and the number there would cover each other.
NEAR_ZERO, NEAR_TOP = 0.06, 0.8


def colour(field: str, *, signed: bool, legend: alt.Legend | None = None) -> alt.Color:
    """The colour channel of `field`: up to the value `largest`, from its negative if `signed`, else from 0."""
    ends = [alt.ExprRef("-largest") if signed else 0, value("largest")]
    # Vega would mix two colours by their hue, and Plotly mixes them in RGB: one weight must not have two colours.
    scale = alt.Scale(
        domain=ends, range=list(WEIGHTS), interpolate="rgb", clamp=True, reverse=alt.expr(ON_DARK)
    )
    if signed:
        scale = alt.Scale(domain=ends, range=list(DIFFERENCE), interpolate="rgb", clamp=True)
    return alt.Color(f"{field}:Q", scale=scale, legend=legend)


def colour_legend(title: str | list[str], ticks: Sequence[float] | alt.ExprRef, **options: Any) -> alt.Legend:
    """A colour bar with numbers at `ticks`; `title` says what is coloured, `options` are further ones of Altair's
    legend.
    """
    return alt.Legend(
        title=title,
        titleLimit=0,
        orient="bottom",
        direction="horizontal",
        gradientLength=180,
        gradientThickness=8,
        values=ticks,
        **options,
    )


def attention_colour(reach: str, even: str, *, legend: bool = True, what: str = WEIGHT) -> alt.Color:
    """The colour channel of the field `weight`, from 0 to the value `largest`, with a `legend` that names `what` is
    coloured and its `reach`.

    If `even` is not empty, it explains the value `even` (of `weight_values`), which the legend marks.
    """
    if not legend:
        return colour("weight", signed=False)
    number = "format(datum.value, '.3~g')"
    ticks, options = ENDS, Kwargs(format=".3~g")
    if reach == "all of them 0":
        ticks = alt.ExprRef("[0]")
    elif even:
        # Near the upper end the mark stands beside the number there, near 0 it stands for that.
        merged = f"even > {NEAR_TOP} * largest"
        ticks = alt.ExprRef(
            f"{merged} ? [0, largest] : even < {NEAR_ZERO} * largest ? [even, largest] : [0, even, largest]"
        )
        mark = f"datum.value == even ? '{EVEN}' : {number}"
        label = f"{merged} ? (datum.value ? '{EVEN} ' : '') + {number} : {mark}"
        options = {"labelExpr": label, "labelOverlap": False}
    bar = colour_legend(legend_lines(reach, even, what), ticks, offset=8, padding=0, **options)
    return colour("weight", signed=False, legend=bar)


def legend_lines(reach: str, even: str, what: str = WEIGHT) -> list[str]:
    """The title of a colour bar of weights: what it shows, and below that what its mark means."""
    return [f"{what}, {reach}", *([f"{EVEN} {even}"] if even else [])]


def evenly(n_keys: int, keys: str = "", *, shares: bool = True) -> str:
    """What a legend says of the weight that each of `n_keys` keys would have if all were equal; `whose` says which
    keys they are. "" for a single key, and where weights are no `shares` of their row.
    """
    if n_keys < 2 or not shares:
        return ""
    return f"same weight for all{keys and f' {keys}'}: 1/{n_keys} = {1 / n_keys:.2g}"


def weight_values(scale: WeightScale, n_keys: int) -> dict[str, float]:
    """The values that a form with `attention_colour` refers to: the end of the scale, and the weight if all keys had
    the same.
    """
    return {"largest": scale.largest, "even": 1 / max(n_keys, 1)}
