"""A number for each pair of positions, such as their dot product, as a square map."""

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar
from viz.palette import ATTENTION, DIFFERENCE
from viz.positions.sinusoid_heatmap import STANDOFF


def offset_heatmap(matrix: np.ndarray, *, what: str) -> go.Figure:
    """Values [position s, position t]; `what` names them.

    Colours go from 0 to the largest value, or symmetrically about 0 where some are negative.
    Raises ValueError where the matrix is not square.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"pairs of positions make a square, got shape {matrix.shape}")
    largest = float(np.abs(matrix).max(initial=0)) or 1.0
    lowest = -largest if (matrix < 0).any() else 0.0
    middle = (lowest + largest) / 2
    reach = "symmetric about 0" if lowest else "0 to the maximum"
    values = go.Heatmap(
        z=matrix.astype(np.float32),
        zmin=lowest,
        zmax=largest,
        colorscale=DIFFERENCE if lowest else ATTENTION,
        colorbar=colour_bar(what, reach, [lowest, middle, largest]),
        hovertemplate="s = %{y}, t = %{x}<br>value %{z:.4f}<extra></extra>",
    )
    axis = {"showgrid": False, "zeroline": False, "constrain": "domain", "automargin": True}
    return go.Figure(
        values,
        layout={
            "height": 480,
            "margin": {"l": 10, "r": 10, "t": 66, "b": 10},
            "xaxis": axis
            | {"title": {"text": "position t", "standoff": STANDOFF}, "constraintoward": "left"},
            "yaxis": axis
            | {"title": "position s", "constraintoward": "top", "scaleanchor": "x", "autorange": "reversed"},
        },
    )
