"""How long the vectors are that are added up at each position: content and position beside each other."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from viz.attention.token_label import visible
from viz.curves import WHOLE, by_kind, curves, long
from viz.figure import VegaFigure, form, tip, value
from viz.palette import EMPHASIS, NEUTRAL, SECOND
from viz.theme import FIT

_COLOURS = (NEUTRAL, EMPHASIS, SECOND)
_SHAPES = ("triangle-up", "circle", "square")
_MOST_POINTS = 100  # positions; beyond, the marks would run into each other, and the lines say it all


def norm_curves(norms: Mapping[str, np.ndarray], tokens: Sequence[str]) -> VegaFigure:
    """Lengths [position] of up to three kinds of vectors, by the name under which the legend lists them.

    Raises ValueError where a kind does not have as many as there are tokens.
    """
    if wrong := {name: len(values) for name, values in norms.items() if len(values) != len(tokens)}:
        raise ValueError(f"{len(tokens)} tokens need as many lengths each, got {wrong}")
    series = {name: (range(len(tokens)), values) for name, values in norms.items()}
    frame = long(series, "vector", "position", "norm")
    frame["token"] = [visible(token) for token in tokens] * len(norms)
    return _form(tuple(norms), len(tokens) <= _MOST_POINTS).of(
        frame,
        values={"last": max(len(tokens) - 1, 1)},
        description=f"Lengths of {', '.join(norms)} at {len(tokens)} positions.",
    )


@form
def _form(kinds: tuple[str, ...], few: bool) -> alt.LayerChart:
    n = len(kinds)
    layers = curves(
        alt.X(
            "position:Q", title="position", scale=alt.Scale(domain=[0, value("last")], nice=False), axis=WHOLE
        ),
        alt.Y("norm:Q", title="Euclidean length", scale=alt.Scale(domainMin=0)),
        by_kind("vector:N", kinds, color=_COLOURS[-n:], shape=_SHAPES[-n:], legend={"columns": 1}),
        tooltip=["vector:N", "position:Q", "token:N", tip("norm:Q", ".4f", "length")],
        line={"strokeWidth": 1, "opacity": 0.6},
        points={"size": 45 if few else 12},
    )
    return alt.layer(*layers).properties(height=320, autosize=FIT)
