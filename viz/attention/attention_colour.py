"""The colour channel of the figures that draw single weights: token strip, head view, digit overlay."""

import altair as alt
import numpy as np

from viz.colour_legend import colour_legend
from viz.palette import ATTENTION, ColourScale, top


def attention_colour(weights: np.ndarray, scale: ColourScale, *, own: str) -> alt.Color:
    """The field `weight` as ink, with a legend that says where the scale ends; `own` names a maximum."""
    maximum = top(weights, scale)
    title = f"attention weight, 0 to {'1' if scale == 'fixed' else own}"
    ticks = [0, maximum]
    if scale == "own" and not weights.any():  # a query that may see none of these has no largest weight
        title, ticks = "attention weight, all of them 0", [0]
    return alt.Color(
        "weight:Q",
        scale=alt.Scale(domain=[0, maximum], range=list(ATTENTION), clamp=True),
        legend=colour_legend(title, ticks, format=".3~g", offset=8, padding=0),
    )
