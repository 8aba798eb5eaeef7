"""One attention pattern, cell by cell, with the exact weight under the pointer."""

from collections.abc import Sequence

import numpy as np

from viz.figure import PlotlyFigure
from viz.heatmap import colour_scale, need_squares, token_heatmap
from viz.palette import ColourScale, top

_REACH = {"fixed": "0 to 1", "own": "0 to this map's maximum"}


def attention_heatmap(
    matrix: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    query: int | None = None,
    scale: ColourScale = "fixed",
    title: str = "",
    shown: tuple[int, int] | None = None,
    description: str | None = None,
) -> PlotlyFigure:
    """Weights [query, key] over `tokens`, queries from the top; the row of the chosen `query` is framed.

    Cells that `mask` [query, key] forbids (False) are hatched and carry no weight, since the zero there says
    nothing about the head. Both axes are zoomed to the positions `shown`, from first to last.
    Raises ValueError where the shapes do not fit each other.
    """
    need_squares(len(tokens), matrix, *([] if mask is None else [mask]))
    colours = colour_scale("attention weight", _REACH[scale], top(matrix, scale), signed=False)
    if scale == "own" and not matrix.any():  # every key of every query is masked
        colours = colour_scale("attention weight", "all of them 0", 1, signed=False)
        colours["colorbar"]["tickvals"] = [0]
    return token_heatmap(
        matrix,
        tokens,
        mask=mask,
        query=query,
        shown=shown,
        colours=colours,
        number=": %{z:.4f}",
        title=title,
        description=description or f"Attention of {title}, queries down, keys across",
    )
