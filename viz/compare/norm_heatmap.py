"""How long the residual stream's vectors are: stages down, tokens across."""

from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from viz.attention.token_axes import colour_bar, names_across, position_labels
from viz.palette import ATTENTION

_STEP = 26  # pixels a stage


def norm_heatmap(
    norms: np.ndarray, stages: Sequence[str], tokens: Sequence[str], *, unit: str = "token", title: str = ""
) -> go.Figure:
    """Norms [stage, position], coloured from 0 to the largest; `unit` says what `tokens` are, as "patch".

    Raises ValueError where the shapes do not fit.
    """
    if norms.shape != (len(stages), len(tokens)):
        raise ValueError(f"{len(stages)} stages of {len(tokens)} tokens, got norms of {norms.shape}")
    largest = float(norms.max(initial=0)) or 1.0
    labels = position_labels(tokens)
    trace = go.Heatmap(
        x=labels,
        y=list(stages),
        z=norms,
        zmin=0,
        zmax=largest,
        colorscale=ATTENTION,
        colorbar=colour_bar("length of the state", "0 to this map's maximum", [0, largest / 2, largest]),
        hovertemplate="%{y}, '%{x}': %{z:.3f}<extra></extra>",
    )
    axis = {"type": "category", "showgrid": False, "automargin": True}
    return go.Figure(
        trace,
        layout={
            "title": {"text": escape(title, quote=False), "x": 0, "xref": "container"},
            "height": 230 + _STEP * len(stages),
            "margin": {"l": 10, "r": 10, "t": 120, "b": 10},
            "xaxis": axis | names_across(labels, title=unit),
            "yaxis": axis | {"title": "stage of the stream", "autorange": "reversed"},
        },
    )
