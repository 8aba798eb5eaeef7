"""A head's pattern, its scores, or the difference of two patterns, cell by cell, with the number under the pointer.

Queries go down from the top, keys across. Of the `place` that each map takes, the row of the chosen `query` is framed,
both axes are zoomed to the positions `shown`, from first to last, or, where these are not the same, to the queries and
the keys of `part`, and cells that a `mask` [query, key] forbids (False) are hatched, without a number. `keys` are the
tokens across where they are not those down, `numbers` the positions of the tokens where these are not counted from 0,
and `notes` say below the map what was done to the weights.
ValueError where the shapes do not fit each other.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from ..builders.figure import PlotlyFigure, need_shape
from ..builders.heatmap import attention_scale, colour_scale, heatmap, position_labels
from ..builders.palette import ROUNDING, TO_ONE, WeightScale, largest

_WRITTEN = 20  # keys; in a map of more, a cell has no room for its number


def attention_heatmap(
    pattern: np.ndarray,
    tokens: Sequence[str],
    *,
    query: int | None = None,
    mask: np.ndarray | None = None,
    scale: WeightScale = TO_ONE,
    title: str = "",
    description: str | None = None,
    **place: Any,
) -> PlotlyFigure:
    """Weights [query, key] over `tokens`: a masked cell has none, since the zero there says nothing about the head.

    In the row of the `query` they are written, where there is room.
    """
    n_keys = pattern.shape[-1]
    if mask is None or query is None or mask[query].all():
        colours = attention_scale(scale, n_keys)
    else:
        colours = attention_scale(scale, int(mask[query].sum()), "the allowed keys")
    said = description or "Attention" + f" of {title}" * bool(title) + ", queries down, keys across"
    look = {"colours": colours, "number": ": %{z:.4f}", "title": title, "description": said}
    if query is not None and n_keys <= _WRITTEN:
        look["written"] = np.full(pattern.shape, "", dtype=object)
        look["written"][query] = [_short(weight) for weight in pattern[query]]
    return _over_tokens(pattern, tokens, mask=mask, query=query, **look, **place)


def cross_heatmap(
    pattern: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query: int,
    scale: WeightScale = TO_ONE,
) -> PlotlyFigure:
    """Weights [query, key] of the tokens `queries` of one input on the tokens `keys` of another."""
    need_shape((len(queries), len(keys)), pattern=pattern)
    return heatmap(
        pattern,
        x=position_labels(keys),
        y=position_labels(queries),
        titles=("key, of the second", "query, of the first"),
        colours=attention_scale(scale, len(keys)),
        cell="query '%{y}' → key '%{x}'",
        number=": %{z:.4f}",
        description="Cross-attention, queries of the first input down, keys of the second across",
        framed=(range(len(keys)), range(query, query + 1)),
        height=540,
        square=True,
    )


def _short(weight: float) -> str:
    """In two digits without the 0 before them; nothing where that would be .00, 1 where it would be 1.00."""
    return {"0.00": "", "1.00": "1"}.get(said := f"{weight:.2f}", said.removeprefix("0"))


def score_heatmap(
    scores: np.ndarray,
    tokens: Sequence[str],
    *,
    title: str = "",
    mask: np.ndarray | None = None,
    **place: Any,
) -> PlotlyFigure:
    """Scores [query, key], purple below 0 and gold above.

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
    """Signed second − first of two patterns [query, key]: purple where the `first` has more, gold where the `second` has.

    The scale is symmetric about 0 and reaches to the largest difference, either way, where that is more than rounding.
    """
    need_shape((len(tokens),) * 2, first=first, second=second)
    difference = second - first
    one, other = (escape(name, quote=False) for name in names)
    end = largest(difference, at_least=ROUNDING)
    colours = colour_scale(f"{names[1]} minus {names[0]}", "symmetric about 0", end)
    both = f"<br>{one}: %{{customdata[0]:.4f}}<br>{other}: %{{customdata[1]:.4f}}"
    number = f"{both}<br>difference: %{{z:.4f}}"
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
    keys: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    notes: Sequence[str] = (),
    **options: object,
) -> PlotlyFigure:
    """The heatmap of [query, key]; zoomed ones are lower, as they stand beside each other.

    Of a large one only the queries and keys of `part` are drawn, and sent to the browser.
    """
    n_keys = len(tokens if keys is None else keys)
    need_shape((len(tokens), n_keys), values=values, **({} if mask is None else {"mask": mask}))
    labels = position_labels(tokens, numbers)
    across = labels if keys is None else position_labels(keys)
    if part is not None:
        queries, those = (slice(each.start, each.stop) for each in part)
        values, labels, across = values[queries, those], labels[queries], across[those]
        mask = None if mask is None else mask[queries, those]
        query = query - queries.start if query is not None and query in part[0] else None
        n_keys = len(across)
    return heatmap(
        values,
        x=across,
        y=labels,
        titles=("<br>".join(("key", *(escape(note, quote=False) for note in notes))), "query"),
        cell="query '%{y}' → key '%{x}'",
        mask=mask,
        framed=None if query is None else (range(n_keys), range(query, query + 1)),
        shown=None if shown is None else (range(shown[0], shown[1] + 1),) * 2,
        height=640 if shown is None else 540,
        square=True,
        **options,
    )
