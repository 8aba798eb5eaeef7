"""How dot products spread: a histogram, and the normal density of an expected variance over it."""

import math

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.heading import FIT, heading
from viz.palette import EMPHASIS
from viz.theme import INK

_BINS = 81
_HEIGHT = 230


def dot_product_distribution(
    products: np.ndarray, *, variance: float, reach: float, name: str, expected: str
) -> alt.LayerChart:
    """The share of `products` (any shape) in each of 81 bins from -`reach` to `reach`, as a density.

    The line is the normal density with mean 0 and `variance` in the same bins, called `expected`. What lies beyond `reach` is
    in no bar but counts in the share; `name` says what the products are, on the axis.
    Raises ValueError where `variance` or `reach` is not above 0.
    """
    if not (variance > 0 and reach > 0):
        raise ValueError(f"variance and reach must be above 0, got {variance} and {reach}")
    edges = np.linspace(-reach, reach, _BINS + 1)
    counts, _ = np.histogram(products, edges)
    share = counts / max(np.size(products), 1)
    bars = pd.DataFrame(
        {"from": edges[:-1], "to": edges[1:], "share": share, "density": share / (edges[1] - edges[0])}
    )
    # Of the same bins: where the whole of it lies within one, the density at a point would be many times a bar.
    below = np.array([0.5 * math.erf(edge / math.sqrt(2 * variance)) for edge in edges])
    x, normal = (edges[:-1] + edges[1:]) / 2, np.diff(below) / np.diff(edges)
    along = alt.X("from:Q", title=name, scale=alt.Scale(domain=[-reach, reach], nice=False))
    histogram = (
        alt.Chart(bars)
        .mark_rect(color=EMPHASIS, opacity=0.75)
        .encode(
            x=along,
            x2=alt.X2("to:Q"),
            y=alt.Y("density:Q", title="density"),
            y2=alt.Y2Datum(0),
            tooltip=[
                alt.Tooltip("from:Q", format=".3f"),
                alt.Tooltip("to:Q", format=".3f"),
                alt.Tooltip("share:Q", format=".3%", title="share of all pairs"),
                alt.Tooltip("density:Q", format=".4f"),
            ],
        )
    )
    line = (
        alt.Chart(pd.DataFrame({"x": x, "density": normal}))
        .mark_line(strokeWidth=2, strokeDash=[6, 4], color=INK)
        .encode(
            x=alt.X("x:Q"),
            y=alt.Y("density:Q"),
            tooltip=[
                alt.Tooltip("x:Q", format=".3f", title=name),
                alt.Tooltip("density:Q", format=".4f", title="normal density in this bin"),
            ],
        )
    )
    return alt.layer(histogram, line).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading(f"Distribution of {name}", f"dashed: {expected}"),
        description=f"Histogram of {np.size(products):,} values of {name}, over a {expected}.",
    )
