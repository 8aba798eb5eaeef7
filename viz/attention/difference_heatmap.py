"""Two patterns over the same tokens, subtracted: where does the one attend more than the other?"""

from collections.abc import Sequence
from html import escape

import numpy as np

from viz.figure import PlotlyFigure
from viz.heatmap import colour_scale, need_squares, token_heatmap
from viz.palette import ROUNDING, largest


def difference_heatmap(
    a: np.ndarray,
    b: np.ndarray,
    tokens: Sequence[str],
    *,
    names: tuple[str, str] = ("pre-LN", "post-LN"),
    query: int | None = None,
    title: str = "",
    shown: tuple[int, int] | None = None,
    description: str | None = None,
) -> PlotlyFigure:
    """Signed b − a of two patterns [query, key]: blue where `a` has more, orange where `b` has.

    The scale is symmetric about 0 and reaches to the largest difference, either way, where that is more than
    rounding. The row of the chosen `query` is framed; both axes are zoomed to the positions `shown`.
    Raises ValueError where the shapes do not fit each other.
    """
    need_squares(len(tokens), a, b)
    difference = b - a
    end = largest(difference, at_least=ROUNDING)
    first, second = (escape(name, quote=False) for name in names)
    return token_heatmap(
        difference,
        tokens,
        query=query,
        shown=shown,
        colours=colour_scale(f"{names[1]} minus {names[0]}", "symmetric about 0", end),
        number=(
            f"<br>{first}: %{{customdata[0]:.4f}}<br>{second}: %{{customdata[1]:.4f}}<br>difference: %{{z:+.4f}}"
        ),
        customdata=np.stack([a, b], axis=-1),
        title=title,
        description=description or f"Difference of attention, {title}",
    )
