"""The colours of fields in Altair figures, and their colour bars: short, and below the figure on the left."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.figure import value
from viz.palette import ATTENTION, DIFFERENCE, ColourScale

# Numbers at the ends of a legend of `colour`, and in the middle of a signed one.
ENDS, SIGNED_ENDS = alt.ExprRef("[0, largest]"), alt.ExprRef("[-largest, 0, largest]")


def colour(field: str, *, signed: bool, legend: alt.Legend | None = None) -> alt.Color:
    """For forms: `field` in colours that reach to the value `largest`, from its negative where `signed`, else from 0."""
    ends = [alt.ExprRef("-largest") if signed else 0, value("largest")]
    scale = alt.Scale(domain=ends, range=list(DIFFERENCE if signed else ATTENTION), clamp=True)
    return alt.Color(f"{field}:Q", scale=scale, legend=legend)


def colour_legend(title: str, ticks: Sequence[float] | alt.ExprRef, **options: object) -> alt.Legend:
    """A gradient with numbers at `ticks`; `title` says what is coloured, `options` are further ones of Altair's."""
    place = {"titleLimit": 0, "orient": "bottom", "direction": "horizontal"}
    return alt.Legend(title=title, gradientLength=180, gradientThickness=8, values=ticks, **place, **options)


def attention_colour(reach: str) -> alt.Color:
    """For forms: the field `weight` as ink up to the value `largest`, with a legend that says the `reach`."""
    ticks = alt.ExprRef("[0]") if reach == "all of them 0" else ENDS
    legend = colour_legend(f"attention weight, {reach}", ticks, format=".3~g", offset=8, padding=0)
    return colour("weight", signed=False, legend=legend)


def reach(weights: np.ndarray, scale: ColourScale, *, own: str) -> str:
    """Where the colours of attention end, in words for the legend; `own` names the largest of these weights."""
    if scale == "own" and not weights.any():  # a query that may see none of these has no largest weight
        return "all of them 0"
    return f"0 to {'1' if scale == 'fixed' else own}"
