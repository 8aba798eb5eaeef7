"""How alike the vectors of all pairs of positions are."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar, token_heatmap
from viz.palette import DIFFERENCE


def similarity_heatmap(cosines: np.ndarray, names: Sequence[str]) -> go.Figure:
    """Cosine similarities [position, position], -1 to 1; `names` differ from each other.

    Raises ValueError where the shapes do not fit each other.
    """
    n = len(names)
    if cosines.shape != (n, n):
        raise ValueError(f"{n} positions need {n}×{n} similarities, got shape {cosines.shape}")
    trace = go.Heatmap(
        x=list(names),
        y=list(names),
        z=cosines.astype(np.float32),
        zmin=-1,
        zmax=1,
        colorscale=DIFFERENCE,
        colorbar=colour_bar("cosine similarity", "−1 to 1", [-1, 0, 1]),
        hoverongaps=False,
        hovertemplate="positions %{y} and %{x}: %{z:.4f}<extra></extra>",
    )
    figure = token_heatmap([trace], labels=list(names), title="")
    return figure.update_layout(xaxis_title_text="position", yaxis_title_text="position")
