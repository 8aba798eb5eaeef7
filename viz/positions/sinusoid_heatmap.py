"""The table of sinusoidal positions: a row a position, a column a dimension."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar
from viz.palette import ACCENT, DIFFERENCE, NEUTRAL

# Under a horizontal colour bar Plotly forgets the tick labels when it places the title of the x axis.
STANDOFF = 50  # pixels


def sinusoid_heatmap(rows: np.ndarray, *, position: int, dimensions: Sequence[int] = ()) -> go.Figure:
    """Values [position, d_model] from -1 to 1; the row `position` is framed, `dimensions` are marked above.

    Raises ValueError where the row or a dimension is not in the table.
    """
    n, d_model = rows.shape
    if not 0 <= position < n or not all(0 <= dimension < d_model for dimension in dimensions):
        raise ValueError(
            f"no position {position} or dimension {list(dimensions)} in a table of {n}×{d_model}"
        )
    values = go.Heatmap(
        z=rows,
        zmin=-1,
        zmax=1,
        colorscale=DIFFERENCE,
        colorbar=colour_bar("sine (even i) or cosine (odd i)", "−1 to 1", [-1, 0, 1]),
        hovertemplate="position t = %{y}<br>dimension i = %{x}<br>value %{z:.4f}<extra></extra>",
    )
    marks = go.Scatter(
        x=list(dimensions),
        y=[-0.5] * len(dimensions),
        mode="markers",
        marker={"symbol": "triangle-down", "size": 9, "color": NEUTRAL},
        cliponaxis=False,
        hovertemplate="dimension %{x}<extra></extra>",
    )
    axis = {"showgrid": False, "zeroline": False, "automargin": True}
    figure = go.Figure(
        [values, marks],
        layout={
            "height": 500,
            "margin": {"l": 10, "r": 10, "t": 66, "b": 10},
            "showlegend": False,
            "xaxis": axis
            | {"title": {"text": "dimension i", "standoff": STANDOFF}, "range": [-0.5, d_model - 0.5]},
            "yaxis": axis | {"title": "position t", "range": [n - 0.5, -0.5]},
        },
    )
    return figure.add_shape(
        type="rect",
        x0=-0.5,
        x1=d_model - 0.5,
        y0=position - 0.5,
        y1=position + 0.5,
        line={"color": ACCENT, "width": 2 if n <= 64 else 1},
    )
