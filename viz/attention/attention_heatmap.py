"""One attention pattern, cell by cell, with the exact weight under the pointer."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from PIL import ImageColor

from viz.attention.token_axes import colour_bar, position_labels, token_heatmap
from viz.palette import ACCENT, ATTENTION, MASKED, ColourScale, data_uri, top

_REACH = {"fixed": "0 to 1", "own": "0 to this map's maximum"}
_HATCHED_PIXELS = 800


def attention_heatmap(
    matrix: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    query: int | None = None,
    scale: ColourScale = "fixed",
    title: str = "",
) -> go.Figure:
    """Weights [query, key] over `tokens`, queries from the top; the row of the chosen `query` is framed.

    Cells that `mask` [query, key] forbids (False) are hatched and carry no weight, since the zero there says
    nothing about the head. Raises ValueError where the shapes do not fit each other.
    """
    n = len(tokens)
    mask = np.ones((n, n), dtype=bool) if mask is None else mask
    if matrix.shape != (n, n) or mask.shape != (n, n):
        raise ValueError(f"{n} tokens need {n}×{n} weights and mask, got {matrix.shape} and {mask.shape}")
    labels = position_labels(tokens)
    maximum = top(matrix, scale)
    reach = _REACH[scale], [0, maximum / 2, maximum]
    if scale == "own" and not matrix.any():  # every key of every query is masked
        reach = "all of them 0", [0]
    weights = go.Heatmap(
        x=labels,
        y=labels,
        z=np.where(mask, matrix, np.nan),
        zmin=0,
        zmax=maximum,
        colorscale=ATTENTION,
        colorbar=colour_bar("attention weight", *reach),
        hoverongaps=False,
        hovertemplate="query '%{y}' → key '%{x}': %{z:.4f}<extra></extra>",
    )
    figure = token_heatmap([weights], labels=labels, title=title)
    draw_masked(figure, mask, labels)
    if query is not None:
        frame_query(figure, query, n)
    return figure


def draw_masked(figure: go.Figure, mask: np.ndarray, labels: Sequence[str]) -> None:
    """Hatches what `mask` [query, key] forbids, on the axes of `labels`; the cells below must be empty."""
    if mask.all():
        return
    n = len(mask)
    figure.add_trace(_forbidden(mask, labels))
    place = {"xref": "x", "yref": "y", "x": -0.5, "y": -0.5, "sizex": n, "sizey": n, "sizing": "stretch"}
    figure.add_layout_image({"source": hatching(mask), "layer": "above", **place})


def frame_query(figure: go.Figure, query: int, n: int) -> None:
    """A frame around the row of `query`, across `n` keys."""
    figure.add_shape(
        type="rect",
        x0=-0.5,
        x1=n - 0.5,
        y0=query - 0.5,
        y1=query + 0.5,
        line={"color": ACCENT, "width": 2 if n <= 64 else 1},  # a thin row must stay visible inside
    )


def _forbidden(mask: np.ndarray, labels: Sequence[str]) -> go.Heatmap:
    """Says "masked" under the pointer; what one sees is the hatching."""
    return go.Heatmap(
        x=labels,
        y=labels,
        z=np.where(mask, np.nan, 0).astype(np.float32),
        colorscale=("rgba(0, 0, 0, 0)",) * 2,
        showscale=False,
        hoverongaps=False,
        hovertemplate="query '%{y}' → key '%{x}': masked<extra></extra>",
    )


def hatching(mask: np.ndarray) -> str:
    """Diagonal grey lines over the forbidden cells, as a picture: Plotly and Vega cannot hatch a cell."""
    n_rows, n_columns = mask.shape
    times = max(1, _HATCHED_PIXELS // max(mask.shape))
    row, column = np.indices((n_rows * times, n_columns * times))
    lines = (row + column) % 12 < 3
    pixels = np.zeros((*lines.shape, 4), dtype=np.uint8)
    pixels[lines & ~mask.repeat(times, axis=0).repeat(times, axis=1)] = (*ImageColor.getrgb(MASKED), 255)
    return data_uri(pixels)
