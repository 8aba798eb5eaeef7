"""The scores of one head, cell by cell, before or after a mask."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.attention.attention_heatmap import draw_masked, frame_query
from viz.attention.token_axes import colour_bar, position_labels, token_heatmap
from viz.palette import DIFFERENCE


def score_heatmap(
    scores: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    query: int | None = None,
    title: str = "",
) -> go.Figure:
    """Scores [query, key], blue below 0 and orange above; the row of the chosen `query` is framed.

    Cells that `mask` [query, key] forbids (False) are hatched: no number stands there any more. The scale is
    symmetric about 0 and reaches to the largest score of all, so that the figures before and after the mask
    have the same one. Raises ValueError where the shapes do not fit each other.
    """
    n = len(tokens)
    mask = np.ones((n, n), dtype=bool) if mask is None else mask
    if scores.shape != (n, n) or mask.shape != (n, n):
        raise ValueError(f"{n} tokens need {n}×{n} scores and mask, got {scores.shape} and {mask.shape}")
    labels = position_labels(tokens)
    largest = float(np.abs(scores).max(initial=0)) or 1.0
    trace = go.Heatmap(
        x=labels,
        y=labels,
        z=np.where(mask, scores, np.nan),
        zmin=-largest,
        zmax=largest,
        colorscale=DIFFERENCE,
        colorbar=colour_bar("score q·k / √d_k", "symmetric about 0", [-largest, 0, largest]),
        hoverongaps=False,
        hovertemplate="query '%{y}' → key '%{x}': %{z:.3f}<extra></extra>",
    )
    figure = token_heatmap([trace], labels=labels, title=title)
    draw_masked(figure, mask, labels)
    if query is not None:
        frame_query(figure, query, n)
    return figure
