"""The position vectors of a checkpoint, number by number."""

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar
from viz.palette import DIFFERENCE


def checkpoint_table(table: np.ndarray) -> go.Figure:
    """Values [position, d_model], position 0 on top; the colours are symmetric about 0."""
    largest = float(np.abs(table).max(initial=0)) or 1.0
    trace = go.Heatmap(
        z=table,
        zmin=-largest,
        zmax=largest,
        colorscale=DIFFERENCE,
        colorbar=colour_bar("value", "symmetric about 0", [-largest, 0, largest]),
        hovertemplate="position %{y}, dimension %{x}: %{z:+.4f}<extra></extra>",
    )
    axis = {"showgrid": False, "zeroline": False, "automargin": True}
    return go.Figure(
        [trace],
        layout={
            "height": 560,
            "margin": {"l": 10, "r": 10, "t": 80, "b": 10},
            "xaxis": axis | {"title": "dimension of d_model"},
            "yaxis": axis | {"title": "position", "autorange": "reversed"},
        },
    )
