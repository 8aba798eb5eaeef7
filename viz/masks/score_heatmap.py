"""The scores of one head, cell by cell, before or after a mask."""

from collections.abc import Sequence

import numpy as np

from viz.figure import PlotlyFigure
from viz.heatmap import colour_scale, need_squares, token_heatmap
from viz.palette import largest


def score_heatmap(
    scores: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    query: int | None = None,
    title: str = "",
    shown: tuple[int, int] | None = None,
) -> PlotlyFigure:
    """Scores [query, key], blue below 0 and orange above; the row of the chosen `query` is framed.

    Cells that `mask` [query, key] forbids (False) are hatched: no number stands there any more. The scale is
    symmetric about 0 and reaches to the largest score of all, so that the figures before and after the mask
    have the same one. Both axes are zoomed to the positions `shown`.
    Raises ValueError where the shapes do not fit each other.
    """
    need_squares(len(tokens), scores, *([] if mask is None else [mask]))
    return token_heatmap(
        scores,
        tokens,
        mask=mask,
        query=query,
        shown=shown,
        colours=colour_scale("score q·k / √d_k", "symmetric about 0", largest(scores)),
        number=": %{z:.3f}",
        title=title,
        description=f"Scores{'' if mask is None else ' after the mask'}, queries down, keys across",
    )
