"""How long the vectors are that are added up at each position: content and position beside each other."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.attention.token_label import visible
from viz.palette import EMPHASIS, NEUTRAL, SECOND

_COLOURS = (NEUTRAL, EMPHASIS, SECOND)
_SHAPES = ("triangle-up", "circle", "square")
_MOST_POINTS = 100  # positions; beyond, the marks would run into each other, and the lines say it all


def norm_curves(norms: Mapping[str, np.ndarray], tokens: Sequence[str]) -> alt.Chart:
    """Lengths [position] of up to three kinds of vectors, by the name under which the legend lists them.

    Raises ValueError where a kind does not have as many as there are tokens.
    """
    if wrong := {name: len(values) for name, values in norms.items() if len(values) != len(tokens)}:
        raise ValueError(f"{len(tokens)} tokens need as many lengths each, got {wrong}")
    table = pd.DataFrame(
        {
            "position": np.tile(np.arange(len(tokens)), len(norms)),
            "token": [visible(token) for token in tokens] * len(norms),
            "vector": np.repeat(list(norms), len(tokens)),
            "norm": np.concatenate([*norms.values(), []]).astype(float),
        }
    )
    kinds = list(norms)
    legend = alt.Legend(title=None, orient="top", labelLimit=0, columns=1)
    base = alt.Chart(table).encode(
        x=alt.X(
            "position:Q",
            title="position",
            scale=alt.Scale(domain=[0, max(len(tokens) - 1, 1)], nice=False),
            axis=alt.Axis(tickMinStep=1, format="d", grid=False),
        ),
        y=alt.Y("norm:Q", title="Euclidean length", scale=alt.Scale(domainMin=0)),
        color=alt.Color(
            "vector:N", scale=alt.Scale(domain=kinds, range=list(_COLOURS[-len(kinds) :])), legend=legend
        ),
        tooltip=[
            alt.Tooltip("vector:N"),
            alt.Tooltip("position:Q"),
            alt.Tooltip("token:N"),
            alt.Tooltip("norm:Q", format=".4f", title="length"),
        ],
    )
    points = base.mark_point(filled=True, opacity=1, size=45 if len(tokens) <= _MOST_POINTS else 12).encode(
        shape=alt.Shape(
            "vector:N", scale=alt.Scale(domain=kinds, range=list(_SHAPES[-len(kinds) :])), legend=legend
        )
    )
    lines = base.mark_line(strokeWidth=1, opacity=0.6)
    return alt.layer(lines, points).properties(
        height=320,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"Lengths of {', '.join(kinds)} at {len(tokens)} positions.",
    )
