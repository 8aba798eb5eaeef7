"""Maps of one head that stand beside each other show the same part of it."""

import plotly.graph_objects as go

_HEIGHT = 540  # pixels; four of them are to be seen at once


def map_window(figure: go.Figure, first: int, last: int) -> go.Figure:
    """The same figure, less high, and zoomed to the positions from `first` to `last` on both axes."""
    ends = (first - 0.5, last + 0.5)
    figure.update_layout(height=_HEIGHT)
    figure.update_xaxes(range=ends)
    figure.update_yaxes(range=ends[::-1], autorange=False)
    return figure
