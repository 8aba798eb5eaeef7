"""The colour channel of the figures that draw single weights: token strip, head view, digit overlay."""

import altair as alt
import numpy as np

from viz.colour_legend import colour_legend
from viz.palette import ATTENTION, ColourScale, top


def attention_colour(weights: np.ndarray, scale: ColourScale, *, own: str) -> alt.Color:
    """The field `weight` as ink, with a legend that says where the scale ends; `own` names a maximum."""
    maximum = top(weights, scale)
    end = "1" if scale == "fixed" else own
    return alt.Color(
        "weight:Q",
        scale=alt.Scale(domain=[0, maximum], range=list(ATTENTION), clamp=True),
        legend=colour_legend(
            f"attention weight, 0 to {end}", [0, maximum], format=".3~g", offset=8, padding=0
        ),
    )
