"""Matrices that add up, side by side in the same colours: a row a token, a column an output dimension."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from viz.attention.token_axes import colour_bar, position_labels
from viz.palette import DIFFERENCE
from viz.positions.sinusoid_heatmap import STANDOFF

_ROW, _LOWEST, _HIGHEST = 20, 160, 640  # pixels


def sum_of_maps(maps: Mapping[str, np.ndarray], tokens: Sequence[str]) -> go.Figure:
    """Values [position, dimension] of each of `maps`, under its name, on one scale symmetric about 0.

    Raises ValueError where one of them has not a row a token.
    """
    if wrong := {name: values.shape for name, values in maps.items() if len(values) != len(tokens)}:
        raise ValueError(f"{len(tokens)} tokens need as many rows, got {wrong}")
    largest = max((float(np.abs(values).max(initial=0)) for values in maps.values()), default=0) or 1.0
    labels = position_labels(tokens)
    figure = make_subplots(
        cols=len(maps), shared_yaxes=True, subplot_titles=list(maps), horizontal_spacing=0.03
    )
    for column, (name, values) in enumerate(maps.items(), start=1):
        cells = go.Heatmap(
            y=labels,
            z=values,
            coloraxis="coloraxis",
            hovertemplate=f"{name}<br>token '%{{y}}', dimension %{{x}}<br>value %{{z:.5f}}<extra></extra>",
        )
        figure.add_trace(cells, row=1, col=column)
    figure.update_layout(
        height=int(np.clip(_ROW * len(tokens), _LOWEST, _HIGHEST)) + 150,
        margin={"l": 10, "r": 10, "t": 96, "b": 10},
        coloraxis={
            "cmin": -largest,
            "cmax": largest,
            "colorscale": DIFFERENCE,
            "colorbar": colour_bar("value", "symmetric about 0", [-largest, 0, largest]) | {"ypad": 20},
        },
    )
    figure.update_xaxes(
        title={"text": "output dimension", "standoff": STANDOFF}, showgrid=False, automargin=True
    )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False, automargin=True)
    figure.update_yaxes(title="token", col=1)
    return figure
