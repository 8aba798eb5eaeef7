"""Links between the words of a sentence, such as a parse, as outlined cells of an attention map: solid lines where
the shown head follows the link.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from ..builders.chart import Layer, Rows
from ..builders.heatmap_figure import Frame, Heatmap
from ..builders.palette import CATEGORIES
from ..builders.picture_marks import box_between

COLOUR = CATEGORIES[1]  # no weight has it, on a light page or on a dark one
_DASHES = (4, 3)
_WIDE, _THIN = 3, 1.5  # pixels, of an outline of a link that the head follows and of another
_INSET = 0.04  # of a cell, from its edge to an outline in a heatmap


class MatrixLink(NamedTuple):
    """A link between two words in a map [query, key]: rows of one word, columns of the other, and the heads that
    follow it.
    """

    queries: range
    keys: range
    label: str  # in the tooltip of its cells
    hits: np.ndarray  # [layer, head], bool


def link_frame(links: Sequence[MatrixLink]) -> dict[str, Any]:
    """The columns of the outlines, one row for each link. `hits` is a string with a digit for each head, in the order
    of layers: 1 where the head follows the link.
    """
    return {
        "first_query": [link.queries.start for link in links],
        "end_query": [link.queries.stop for link in links],
        "first_key": [link.keys.start for link in links],
        "end_key": [link.keys.stop for link in links],
        "label": [link.label for link in links],
        "hits": ["".join("1" if hit else "0" for hit in link.hits.ravel()) for link in links],
    }


def cell_labels(links: Sequence[MatrixLink], queries: range, keys: range) -> np.ndarray:
    """For each cell [query, key] of a map of these `queries` and `keys` the labels of its links as text; "" for a
    cell without a link.
    """
    labels = np.full((len(queries), len(keys)), "", dtype=object)
    for link in links:
        for query in _shown_cells(link.queries, queries):
            for key in _shown_cells(link.keys, keys):
                labels[query, key] = "; ".join(filter(None, (labels[query, key], link.label)))
    return labels


def link_outlines() -> Layer:
    """The outlines of the links, from the frame `links`, over the map of the head that is pointed at or chosen."""
    is_hit = "slice(datum.hits, state.n_heads * layer + head, state.n_heads * layer + head + 1) == '1'"
    inset = "min(2, 0.1 * cell)"
    return box_between(
        Rows("links"),
        f"map_x + cell * datum.first_key + {inset}",
        f"top + cell * datum.first_query + {inset}",
        f"map_x + cell * datum.end_key - {inset}",
        f"top + cell * datum.end_query - {inset}",
        fill=None,
        stroke=COLOUR,
        strokeWidth=alt.expr(f"{is_hit} ? {_WIDE} : {_THIN}"),
        strokeDash=alt.expr(f"{is_hit} ? [] : {list(_DASHES)}"),
    )


def with_outlines(
    heatmap: Heatmap,
    links: Sequence[MatrixLink],
    head: tuple[int, int],
    window: tuple[range, range] | None = None,
) -> Heatmap:
    """The heatmap [query, key] of the `head` (layer, head) with outlined cells for the links, whose labels are added
    to the tooltips.

    `window` has the queries and the keys that the heatmap shows; links outside of it are left out.
    """
    if not links:
        return heatmap
    n_rows, n_columns = heatmap.frame.shape
    rows, columns = window or (range(n_rows), range(n_columns))
    labels = cell_labels(links, rows, columns).tolist()
    named = [[f"<br>{escape(text, quote=False)}" * bool(text) for text in row] for row in labels]
    outlines = [
        _outline(row_range, column_range, is_hit=bool(link.hits[head]))
        for link in links
        if (row_range := _shown_cells(link.queries, rows))
        and (column_range := _shown_cells(link.keys, columns))
    ]
    (panel,) = heatmap.panels
    panel = replace(
        panel,
        frames=(*panel.frames, *outlines),
        number=panel.number + "%{customdata}",
        customdata=np.array(named, dtype=object),
    )
    return replace(heatmap, panels=(panel,))


def _shown_cells(cells: range, shown: range) -> range:
    """The part of the range `cells` inside the range `shown`, counted from the start of `shown`."""
    return range(
        max(cells.start, shown.start) - shown.start, max(min(cells.stop, shown.stop) - shown.start, 0)
    )


def _outline(rows: range, columns: range, *, is_hit: bool) -> Frame:
    """The frame around these `rows` and `columns`: solid if the head follows the link (`is_hit`), otherwise dashed."""
    low, high = -0.5 + _INSET, -0.5 - _INSET
    return Frame(
        (columns.start + low, columns.stop + high),
        (rows.start + low, rows.stop + high),
        colour=COLOUR,
        width=_WIDE if is_hit else _THIN,
        dashes=() if is_hit else _DASHES,
    )
