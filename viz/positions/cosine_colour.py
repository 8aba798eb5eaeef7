"""The colour channel of the figures that draw cosine similarities cell by cell."""

import altair as alt

from viz.colour_legend import colour_legend
from viz.palette import DIFFERENCE


def cosine_colour() -> alt.Color:
    """The field `cosine`, from -1 (opposite, blue) over 0 (nothing in common, clear) to 1 (the same, orange)."""
    return alt.Color(
        "cosine:Q",
        scale=alt.Scale(domain=[-1, -0.5, 0, 0.5, 1], range=list(DIFFERENCE)),
        legend=colour_legend("cosine similarity, −1 to 1", [-1, 0, 1], offset=8, padding=0),
    )
