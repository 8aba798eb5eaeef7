"""A histogram of dot products, with the normal density of an expected variance."""

import math

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import VegaFigure, tip, value
from ..builders.number_format import percent
from ..builders.palette import EMPHASIS
from ..builders.theme import INK, heading_with_reading

_BINS = 81


def dot_product_distribution(
    products: np.ndarray, *, variance: float, reach: float, name: str, expected: str
) -> VegaFigure:
    """A histogram of `products` (of any shape) in 81 bins from -`reach` to `reach`, as a density.

    The line is the normal density with mean 0 and this `variance` in the same bins; `expected` names it. Products
    beyond `reach` are in no bin, but the shares of the bins are of all products; `name` is the title of the axis.
    Raises ValueError where `variance` or `reach` is not above 0.
    """
    if not (variance > 0 and reach > 0):
        raise ValueError(f"variance and reach must be above 0, got {variance} and {reach}")
    edges = np.linspace(-reach, reach, _BINS + 1)
    counts, _ = np.histogram(products, edges)
    share = counts / max(np.size(products), 1)
    # Of the same bins: where the whole of it lies within one, the density at a point would be many times a bar.
    cumulative = np.array([0.5 * math.erf(bin_edge / math.sqrt(2 * variance)) for bin_edge in edges])
    scale = alt.Scale(domain=[alt.ExprRef("-reach"), value("reach")], nice=False)
    columns = [
        Column("from", edges[:-1], format=".3f"),
        Column("to", edges[1:], format=".3f"),
        Column("share", share, None),
        Column(
            "percent",
            [percent(one_bin, 3, brief=True) for one_bin in share.tolist()],
            "share of all pairs",
            in_file=None,
        ),
        Column("density", share / np.diff(edges), format=".4f"),
        Column("normal", np.diff(cumulative) / np.diff(edges), None, in_file="normal density"),
    ]
    bars = {
        "x": alt.X("from:Q", title=name, scale=scale),
        "x2": "to:Q",
        "y": alt.Y("density:Q", title="density"),
        "y2": alt.Y2Datum(0),
        "tooltip": columns,
    }
    tooltip = [tip("middle:Q", ".3f", name), tip("normal:Q", ".4f", "normal density in this bin")]
    line = {"x": "middle:Q", "y": "normal:Q", "tooltip": tooltip}
    return chart(
        columns,
        layer("rect", bars, color=EMPHASIS, opacity=0.75),
        layer("line", line, strokeWidth=2, strokeDash=[6, 4], color=INK),
        drawing={"middle": (edges[:-1] + edges[1:]) / 2},
        values={"reach": reach},
        height=230,
        title=heading_with_reading(f"Distribution of {name}", f"dashed: {expected}"),
        description=f"Histogram of {np.size(products):,} values of {name}, over a {expected}.",
    )
