"""Two patterns over the same tokens, subtracted: where does the one attend more than the other?"""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar, position_labels, token_heatmap
from viz.palette import DIFFERENCE, ROUNDING


def difference_heatmap(
    a: np.ndarray,
    b: np.ndarray,
    tokens: Sequence[str],
    *,
    names: tuple[str, str] = ("pre-LN", "post-LN"),
    title: str = "",
) -> go.Figure:
    """Signed b − a of two patterns [query, key]: blue where `a` has more, orange where `b` has.

    The scale is symmetric about 0 and reaches to the largest difference, either way, where that is
    more than rounding.
    Raises ValueError where the shapes do not fit each other.
    """
    n = len(tokens)
    if a.shape != (n, n) or b.shape != (n, n):
        raise ValueError(f"{n} tokens need {n}×{n} weights each, got {a.shape} and {b.shape}")
    labels = position_labels(tokens)
    difference = b - a
    largest = float(np.abs(difference).max(initial=0))
    largest = largest if largest > ROUNDING else 1.0
    first, second = (escape(name, quote=False) for name in names)
    trace = go.Heatmap(
        x=labels,
        y=labels,
        z=difference,
        customdata=np.stack([a, b], axis=-1),
        zmin=-largest,
        zmax=largest,
        colorscale=DIFFERENCE,
        colorbar=colour_bar(f"{names[1]} minus {names[0]}", "symmetric about 0", [-largest, 0, largest]),
        hovertemplate=(
            "query '%{y}' → key '%{x}'<br>"
            f"{first}: %{{customdata[0]:.4f}}<br>{second}: %{{customdata[1]:.4f}}<br>"
            "difference: %{z:+.4f}<extra></extra>"
        ),
    )
    return token_heatmap([trace], labels=labels, title=title)
