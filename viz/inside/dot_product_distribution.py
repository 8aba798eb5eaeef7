"""A histogram of dot products, with the normal density of an expected variance."""

import math

import altair as alt
import numpy as np

from ..builders.curves import curves
from ..builders.figure import VegaFigure, data, form, tip, value
from ..builders.number_format import percent
from ..builders.palette import EMPHASIS
from ..builders.theme import FIT, INK, heading_with_reading

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
    frame = {
        "from": edges[:-1],
        "to": edges[1:],
        "middle": (edges[:-1] + edges[1:]) / 2,
        "share": share,
        "percent": [percent(one_bin, 3, brief=True) for one_bin in share.tolist()],
        "density": share / np.diff(edges),
        "normal": np.diff(cumulative) / np.diff(edges),
    }
    return _chart_form(name).with_data(
        frame,
        in_file={"percent": None, "normal": "normal density"},
        values={"reach": reach},
        title=heading_with_reading(f"Distribution of {name}", f"dashed: {expected}"),
        description=f"Histogram of {np.size(products):,} values of {name}, over a {expected}.",
    )


@form
def _chart_form(name: str) -> alt.TopLevelMixin:
    scale = alt.Scale(domain=[alt.ExprRef("-reach"), value("reach")], nice=False)
    histogram = alt.Chart(data()).mark_rect(color=EMPHASIS, opacity=0.75)
    histogram = histogram.encode(
        x=alt.X("from:Q", title=name, scale=scale),
        x2="to:Q",
        y=alt.Y("density:Q", title="density"),
        y2=alt.Y2Datum(0),
        tooltip=[
            *(tip(f"{bin_edge}:Q", ".3f") for bin_edge in ("from", "to")),
            tip("percent:N", title="share of all pairs"),
            tip("density:Q", ".4f"),
        ],
    )
    (line,) = curves(
        alt.X("middle:Q"),
        alt.Y("normal:Q"),
        {},
        tooltip=[tip("middle:Q", ".3f", name), tip("normal:Q", ".4f", "normal density in this bin")],
        line={"strokeWidth": 2, "strokeDash": [6, 4], "color": INK},
    )
    return alt.layer(histogram, line).properties(height=230, autosize=FIT)
