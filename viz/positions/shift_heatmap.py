"""The matrix that shifts sinusoidal positions: rotations of two by two along the diagonal."""

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar
from viz.palette import ACCENT, DIFFERENCE


def shift_heatmap(matrix: np.ndarray, *, pair: int) -> go.Figure:
    """Values [d_model, d_model] from -1 to 1; the block of `pair` is framed.

    Raises ValueError where the matrix is not square or has no such block.
    """
    d_model = len(matrix)
    if matrix.shape != (d_model, d_model) or not 0 <= 2 * pair < d_model:
        raise ValueError(f"no block {pair} in a matrix of {matrix.shape}")
    values = go.Heatmap(
        z=matrix.astype(np.float32),
        zmin=-1,
        zmax=1,
        colorscale=DIFFERENCE,
        colorbar=colour_bar("entry of M", "−1 to 1", [-1, 0, 1]),
        hovertemplate="row %{y}, column %{x}<br>value %{z:.4f}<extra></extra>",
    )
    axis = {"showgrid": False, "zeroline": False, "constrain": "domain", "automargin": True}
    figure = go.Figure(
        values,
        layout={
            "height": 480,
            "margin": {"l": 10, "r": 10, "t": 66, "b": 10},
            "xaxis": axis | {"title": "dimension of p at t", "constraintoward": "left"},
            "yaxis": axis
            | {
                "title": "dimension of p at t + φ",
                "constraintoward": "top",
                "scaleanchor": "x",
                "autorange": "reversed",
            },
        },
    )
    start, end = 2 * pair - 0.5, 2 * pair + 1.5
    return figure.add_shape(
        type="rect", x0=start, x1=end, y0=start, y1=end, line={"color": ACCENT, "width": 2}
    )
