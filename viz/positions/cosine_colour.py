"""The colour channel of the figures that draw cosine similarities cell by cell."""

import altair as alt

from viz.palette import DIFFERENCE


def cosine_colour() -> alt.Color:
    """The field `cosine`, from -1 (opposite, blue) over 0 (nothing in common, clear) to 1 (the same, orange)."""
    return alt.Color(
        "cosine:Q",
        scale=alt.Scale(domain=[-1, -0.5, 0, 0.5, 1], range=list(DIFFERENCE)),
        legend=alt.Legend(
            title="cosine similarity, -1 to 1",
            titleLimit=0,
            orient="bottom",
            direction="horizontal",
            offset=8,
            padding=0,
            gradientLength=180,
            gradientThickness=8,
            values=[-1, 0, 1],
        ),
    )
