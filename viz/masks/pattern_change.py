"""What a mask changed in one pattern: where the weight went that it took away."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.attention.attention_heatmap import frame_query
from viz.attention.difference_heatmap import difference_heatmap


def pattern_change(
    unmasked: np.ndarray, masked: np.ndarray, tokens: Sequence[str], *, query: int, title: str = ""
) -> go.Figure:
    """Masked minus unmasked pattern [query, key]: blue where weight was lost, orange where it was gained.

    Masked cells show their loss; the row of `query` is framed. Raises as `difference_heatmap` does.
    """
    figure = difference_heatmap(unmasked, masked, tokens, names=("unmasked", "masked"), title=title)
    frame_query(figure, query, len(tokens))
    return figure
