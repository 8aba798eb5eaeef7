"""Heatmaps of one head over its tokens: attention weights, scores, or the difference of two patterns; and a small
overview of a large map.

Rows are queries, columns are keys. Cells that `mask` [query, key] forbids (False) are hatched and show no number.
"""

from collections.abc import Sequence
from heapq import nlargest
from html import escape
from operator import itemgetter
from typing import TYPE_CHECKING, TypedDict, Unpack

import altair as alt
import numpy as np

from ..builders.cells import frame_layers
from ..builders.chart import Column, chart, layer
from ..builders.figure import VegaFigure
from ..builders.heatmap import attention_scale, colour_scale, heatmap, position_labels
from ..builders.heatmap_figure import Colours, Heatmap
from ..builders.number_format import format_number, format_weight, head_name
from ..builders.palette import NEUTRAL, ROUNDING, TO_ONE, WeightScale, largest_absolute, map_pictures
from ..builders.picture_marks import CHOOSE, PIXEL_BOX, box_edges, whole_picture

if TYPE_CHECKING:  # figures are drawn without what model/ imports
    from model.record import AttentionRecord


_N_STRONGEST, _ROUNDS_TO_0 = 3, 0.005  # cells that the text for screen readers names, and what it leaves out
_MOST_SCORES = 98  # percent of the scores of a map: those that its colour scale is for, at least
_FEWEST_SCORES = 25  # in a map of fewer, one of them is more than a rare exception
MOST_WRITTEN = 20  # keys; in a map of more, a cell has no room for its number
_MOST_WRITTEN_BESIDE = 12  # the same of a map that is one of several side by side
_SIDE = 168  # pixels
_STEPS = 12  # places that a click can choose, either way


class MapOptions(TypedDict, total=False):
    """Options that all heatmaps of this file have in common."""

    query: int | None  # whose row is framed
    title: str
    zoom: tuple[int, int] | None  # the first and the last position that both axes show
    window: tuple[range, range] | None  # the queries and the keys that are drawn at all
    notes: Sequence[str]  # lines below the map
    beside: bool  # one of several maps side by side, with small cells


def attention_heatmap(
    record: "AttentionRecord",
    layer: int,
    head: int,
    *,
    scale: WeightScale = TO_ONE,
    description: str | None = None,
    **options: Unpack[MapOptions],
) -> Heatmap:
    """The attention weights of one head; cells that its mask forbids are hatched.

    >>> from loupe import attention_heatmap, from_arrays
    >>> record = from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"])
    >>> figure = attention_heatmap(record, layer=0, head=0, query=1)
    """
    described = options.get("title") or head_name(layer, head)
    return weight_heatmap(
        record.pattern[layer, head],
        record.tokens,
        mask=record.mask[layer, head],
        scale=scale,
        description=description or f"Attention of {described}, queries down, keys across",
        keys=None if record.keys is None else record.keys.tokens,
        numbers=record.numbers,
        **options,
    )


def weight_heatmap(
    weights: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    scale: WeightScale = TO_ONE,
    description: str | None = None,
    keys: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    **options: Unpack[MapOptions],
) -> Heatmap:
    """A heatmap of any `weights` [query, key] over `tokens`; `keys` are the tokens of the columns if they differ from
    those of the rows.

    A masked cell shows no weight, since the zero there says nothing about the head. With the option `query`, the
    weights of that query are written into their cells if there are at most 20 keys, or 12 in a map that stands
    `beside` others. `numbers` are the positions of the tokens, by default counted from 0. `description` is the first
    sentence for screen readers; the second names the keys with the largest weights.
    """
    n_keys, query, title = weights.shape[-1], options.get("query"), options.get("title", "")
    if mask is None or query is None or mask[query].all():
        colours = attention_scale(scale, n_keys)
    else:
        colours = attention_scale(scale, int(mask[query].sum()), "the allowed keys")
    cell_texts = None
    if query is not None and n_keys <= (_MOST_WRITTEN_BESIDE if options.get("beside") else MOST_WRITTEN):
        cell_texts = np.full(weights.shape, "", dtype=object)
        cell_texts[query] = [format_weight(weight) for weight in weights[query]]
    return _token_heatmap(
        weights,
        tokens,
        colours=colours,
        description=description or "Attention" + f" of {title}" * bool(title) + ", queries down, keys across",
        mask=mask,
        cell_texts=cell_texts,
        keys=keys,
        numbers=numbers,
        **options,
    )


def cross_heatmap(
    pattern: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query: int,
    scale: WeightScale = TO_ONE,
) -> Heatmap:
    """A heatmap of cross-attention [query, key] from the tokens `queries` of one input to the tokens `keys` of another;
    the row `query` is framed.
    """
    key_labels, query_labels = position_labels(keys), position_labels(queries)
    strongest = _strongest_cells_sentence(pattern, query_labels, key_labels, query)
    return heatmap(
        pattern,
        x=key_labels,
        y=query_labels,
        titles=("key, of the second", "query, of the first"),
        colours=attention_scale(scale, len(keys)),
        cell="query '%{y}' → key '%{x}'",
        description=f"Cross-attention, queries of the first input down, keys of the second across{strongest}",
        framed=(range(len(keys)), range(query, query + 1)),
        height=540,
        square=True,
        tokens="xy",
    )


def _strongest_cells_sentence(
    values: np.ndarray, query_labels: Sequence[str], key_labels: Sequence[str], query: int | None
) -> str:
    """The end of a description: the three cells of `values` [query, key] with the largest absolute values, in the row
    `query` or, if it is None, in the whole map.

    Such as ". Query film: great 0.41, not 0.20" or ". Strongest: film to great 0.41"; "" if no absolute value is
    above 0.005.
    """
    rows = range(len(values)) if query is None else [query]
    cells = [
        (abs(float(value)), float(value), row, key)
        for row in rows
        for key, value in enumerate(values[row])
        if abs(value) >= _ROUNDS_TO_0
    ]
    texts = []
    for _, value, row, key in nlargest(_N_STRONGEST, cells, key=itemgetter(0)):
        cell = key_labels[key] if query is not None else f"{query_labels[row]} to {key_labels[key]}"
        texts.append(f"{cell} {format_number(value, '.2f')}")
    if not texts:
        return ""
    return f". {'Strongest' if query is None else f'Query {query_labels[query]}'}: {', '.join(texts)}"


def score_heatmap(
    scores: np.ndarray,
    tokens: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    **options: Unpack[MapOptions],
) -> Heatmap:
    """A heatmap of the scores q·k / √d_k [query, key] of one head, purple below 0 and gold above.

    A masked cell is hatched, but its score stays visible. The colour scale is symmetric about 0 and ends at the
    largest absolute score, masked or not; if a few scores, or masked ones, are more than twice as large as all others,
    it ends at the largest of the others.
    """
    end = furthest = largest_absolute(scores)
    reach = "symmetric about 0"
    if scores.size >= _FEWEST_SCORES:
        end = float(np.percentile(np.abs(scores), _MOST_SCORES, method="lower"))
    if mask is not None and mask.any():
        end = min(end, largest_absolute(scores[mask]))
    if 0 < 2 * end < furthest:
        reach = f"{reach}; stronger ones, up to {furthest:.3g}, have the colour of its end"
    else:
        end = furthest
    return _token_heatmap(
        scores,
        tokens,
        colours=colour_scale("score q·k / √d_k", reach, end),
        number=": %{z:.3f}",
        description=f"{options.get('title') or 'Scores'}{'' if mask is None else ', masked ones hatched'}, queries down, keys across",
        mask=mask,
        under_hatching=True,
        **options,
    )


def difference_heatmap(
    first: np.ndarray,
    second: np.ndarray,
    tokens: Sequence[str],
    *,
    names: tuple[str, str] = ("pre-LN", "post-LN"),
    description: str | None = None,
    **options: Unpack[MapOptions],
) -> Heatmap:
    """A heatmap of `second` minus `first`, two patterns [query, key] with these `names`: negative cells are purple,
    positive ones gold.

    The colour scale is symmetric about 0 and ends at the largest absolute difference, or at 1 if that is only a
    rounding error.
    """
    difference = second - first
    first_name, second_name = (escape(name, quote=False) for name in names)
    return _token_heatmap(
        difference,
        tokens,
        colours=colour_scale(
            f"{names[1]} minus {names[0]}",
            "symmetric about 0",
            largest_absolute(difference, at_least=ROUNDING),
        ),
        number=f"<br>{first_name}: %{{customdata[0]:.4f}}<br>{second_name}: %{{customdata[1]:.4f}}"
        "<br>difference: %{z:.4f}",
        customdata=np.stack([first, second], axis=-1),
        description=description or f"Difference of attention, {options.get('title', '')}",
        **options,
    )


def _token_heatmap(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    colours: Colours,
    description: str,
    number: str = ": %{z:.4f}",
    query: int | None = None,
    title: str = "",
    mask: np.ndarray | None = None,
    cell_texts: np.ndarray | None = None,
    customdata: np.ndarray | None = None,
    zoom: tuple[int, int] | None = None,
    window: tuple[range, range] | None = None,
    keys: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    notes: Sequence[str] = (),
    under_hatching: bool = False,
    beside: bool = False,
) -> Heatmap:
    """A heatmap of `values` [query, key] over `tokens`, with the arguments of `heatmap` and `MapOptions`.

    With `zoom` it is lower, since two such heatmaps are shown side by side.
    """
    n_keys = len(tokens if keys is None else keys)
    query_labels = position_labels(tokens, numbers)
    key_labels = query_labels if keys is None else position_labels(keys)
    if window is not None:  # the rest of a large map is not even sent to the browser
        rows, columns = (slice(side.start, side.stop) for side in window)
        values, query_labels, key_labels = values[rows, columns], query_labels[rows], key_labels[columns]
        mask = None if mask is None else mask[rows, columns]
        cell_texts = None if cell_texts is None else cell_texts[rows, columns]
        customdata = None if customdata is None else customdata[rows, columns]
        query = query - rows.start if query is not None and query in window[0] else None
        n_keys = len(key_labels)
    allowed = values if mask is None or under_hatching else np.where(mask, values, 0)
    return heatmap(
        values,
        x=key_labels,
        y=query_labels,
        titles=("key", "query"),
        notes=notes,
        colours=colours,
        cell="query '%{y}' → key '%{x}'",
        number=number,
        title=title,
        description=description + _strongest_cells_sentence(allowed, query_labels, key_labels, query),
        mask=mask,
        under_hatching=under_hatching,
        written=cell_texts,
        customdata=customdata,
        framed=None if query is None else (range(n_keys), range(query, query + 1)),
        shown=None if zoom is None else (range(zoom[0], zoom[1] + 1),) * 2,
        height=640 if zoom is None else 540,
        square=True,
        tokens="xy",
        beside=beside,
    )


def minimap(pattern: np.ndarray, *, framed: tuple[range, range], top: float = 1.0) -> VegaFigure:
    """A small map of a pattern [query, key], with a frame around the queries and the keys in `framed`.

    The colour scale ends at the weight `top`; each pixel shows the largest of the weights that it covers. A click
    sets the point selection `place`, fields `query` and `key`, to the clicked cell.
    """
    n_queries, n_keys = (max(n_tokens, 1) for n_tokens in pattern.shape)
    cell_centres = (np.arange(_STEPS) + 0.5) / _STEPS
    query_indices, key_indices = (cell_centres * n_queries).astype(int), (cell_centres * n_keys).astype(int)
    cell_edges = np.arange(_STEPS) * _SIDE / _STEPS
    row, column = np.indices((_STEPS, _STEPS)).reshape(2, -1)
    descriptions = [
        f"around query {query}, key {key}"
        for query, key in zip(query_indices[row], key_indices[column], strict=True)
    ]
    columns = [
        Column("query", query_indices[row], None),
        Column("key", key_indices[column], None),
        Column("description", descriptions, "show", in_file=None),
    ]
    queries, keys = framed
    frame = {
        "left": [keys.start * _SIDE / n_keys],
        "right": [keys.stop * _SIDE / n_keys],
        "top": [queries.start * _SIDE / n_queries],
        "bottom": [queries.stop * _SIDE / n_queries],
    }
    picture = map_pictures(pattern[None], tops=np.array([top]), max_size=_SIDE)
    whole_map = {"x": alt.value(0), "x2": alt.value(_SIDE), "y": alt.value(0), "y2": alt.value(_SIDE)}
    cell = PIXEL_BOX | {"description": "description:N", "tooltip": columns}
    return chart(
        columns,
        whole_picture("picture", calculate={"url": CHOOSE}, aspect=False),
        layer("rect", whole_map, "picture", fill=None, stroke=NEUTRAL, strokeWidth=0.5),
        *frame_layers(PIXEL_BOX, "window"),
        layer("rect", cell, fill="transparent", cursor="pointer", click=("place", "query", "key")),
        drawing=box_edges(cell_edges[column], cell_edges[row], _SIDE / _STEPS, _SIDE / _STEPS),
        frames={"picture": picture, "window": frame},
        width=_SIDE,
        height=_SIDE,
        autosize="pad",
        description=f"All {n_queries} × {n_keys} weights, small; framed are queries {queries.start} to {queries.stop - 1} and keys "
        f"{keys.start} to {keys.stop - 1}",
    )
