"""The colour channel of the figures that draw single weights: token strip, head view, digit overlay, cell board."""

import altair as alt
import numpy as np

from viz.colour_legend import colour_legend
from viz.figure import value
from viz.palette import ATTENTION, ColourScale


def reach(weights: np.ndarray, scale: ColourScale, *, own: str) -> str:
    """Where the colours end, in words for the legend; `own` names the largest of these weights."""
    if scale == "own" and not weights.any():  # a query that may see none of these has no largest weight
        return "all of them 0"
    return f"0 to {'1' if scale == 'fixed' else own}"


def attention_colour(reach: str) -> alt.Color:
    """For forms: the field `weight` as ink up to the value `largest`, with a legend that says the `reach`."""
    ticks = "[0]" if reach == "all of them 0" else "[0, largest]"
    return alt.Color(
        "weight:Q",
        scale=alt.Scale(domain=[0, value("largest")], range=list(ATTENTION), clamp=True),
        legend=colour_legend(
            f"attention weight, {reach}", alt.ExprRef(ticks), format=".3~g", offset=8, padding=0
        ),
    )
