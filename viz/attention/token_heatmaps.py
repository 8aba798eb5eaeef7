"""A head's pattern, its scores, or the difference of two patterns, cell by cell, with the number under the pointer.

Queries go down from the top, keys across. Of the `place` that each map takes, the row of the chosen `query` is framed,
both axes are zoomed to the positions `shown`, from first to last, and cells that a `mask` [query, key] forbids (False)
are hatched, without a number; `part` are the queries and the keys shown where these differ. ValueError where the shapes do not fit each other.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from viz.figure import PlotlyFigure, need_shape
from viz.heatmap import colour_scale, heatmap, position_labels
from viz.palette import ROUNDING, ColourScale, largest, top

_REACH = {"fixed": "0 to 1", "own": "0 to this map's maximum"}


def attention_heatmap(
    pattern: np.ndarray,
    tokens: Sequence[str],
    *,
    scale: ColourScale = "fixed",
    title: str = "",
    description: str | None = None,
    **place: Any,
) -> PlotlyFigure:
    """Weights [query, key] over `tokens`: a masked cell has none, since the zero there says nothing about the head."""
    colours = colour_scale("attention weight", _REACH[scale], top(pattern, scale), signed=False)
    if scale == "own" and not pattern.any():  # every key of every query is masked
        colours = colour_scale("attention weight", "all of them 0", 1, signed=False)
        colours["colorbar"]["tickvals"] = [0]
    said = description or "Attention" + f" of {title}" * bool(title) + ", queries down, keys across"
    look = {"colours": colours, "number": ": %{z:.4f}", "title": title, "description": said}
    return _over_tokens(pattern, tokens, **look, **place)


def score_heatmap(
    scores: np.ndarray,
    tokens: Sequence[str],
    *,
    title: str = "",
    mask: np.ndarray | None = None,
    **place: Any,
) -> PlotlyFigure:
    """Scores [query, key], blue below 0 and orange above.

    The scale is symmetric about 0 and reaches to the largest score of all, so that the figures before and after the
    mask have the same one.
    """
    colours = colour_scale("score q·k / √d_k", "symmetric about 0", largest(scores))
    said = f"Scores{'' if mask is None else ' after the mask'}, queries down, keys across"
    look = {"colours": colours, "number": ": %{z:.3f}", "title": title, "description": said}
    return _over_tokens(scores, tokens, mask=mask, **look, **place)


def difference_heatmap(
    first: np.ndarray,
    second: np.ndarray,
    tokens: Sequence[str],
    *,
    names: tuple[str, str] = ("pre-LN", "post-LN"),
    title: str = "",
    description: str | None = None,
    **place: Any,
) -> PlotlyFigure:
    """Signed second − first of two patterns [query, key]: blue where the `first` has more, orange where the `second` has.

    The scale is symmetric about 0 and reaches to the largest difference, either way, where that is more than rounding.
    """
    need_shape((len(tokens),) * 2, first=first, second=second)
    difference = second - first
    one, other = (escape(name, quote=False) for name in names)
    end = largest(difference, at_least=ROUNDING)
    colours = colour_scale(f"{names[1]} minus {names[0]}", "symmetric about 0", end)
    both = f"<br>{one}: %{{customdata[0]:.4f}}<br>{other}: %{{customdata[1]:.4f}}"
    number = f"{both}<br>difference: %{{z:+.4f}}"
    said = description or f"Difference of attention, {title}"
    look = {"colours": colours, "number": number, "title": title, "description": said}
    look["customdata"] = np.stack([first, second], axis=-1)
    return _over_tokens(difference, tokens, **look, **place)


def _over_tokens(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    query: int | None = None,
    shown: tuple[int, int] | None = None,
    part: tuple[range, range] | None = None,
    **options: object,
) -> PlotlyFigure:
    """The heatmap of [query, key] over the same tokens; zoomed ones are lower, as they stand beside each other."""
    need_shape((len(tokens),) * 2, values=values, **({} if mask is None else {"mask": mask}))
    labels = position_labels(tokens)
    return heatmap(
        values,
        x=labels,
        y=labels,
        titles=("key", "query"),
        cell="query '%{y}' → key '%{x}'",
        mask=mask,
        framed=None if query is None else (range(len(tokens)), range(query, query + 1)),
        shown=part[::-1] if part else None if shown is None else (range(shown[0], shown[1] + 1),) * 2,
        height=640 if shown is None else 540,
        square=True,
        **options,
    )
