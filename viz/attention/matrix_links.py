"""Links between the words of a sentence, as outlined cells of the large map: solid where the shown head follows them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from ..builders.figure import data
from ..builders.palette import CATEGORIES
from ..builders.picture_marks import box_between

COLOUR = CATEGORIES[3]  # no weight has it, on a light page or on a dark one
_DASHES = [4, 3]


class MatrixLink(NamedTuple):
    """A link in a map [query, key]: the rows of one word, the columns of the other, and the heads that follow it."""

    queries: range
    keys: range
    label: str  # in the tooltip of its cells
    hits: np.ndarray  # [layer, head], bool


def link_frame(links: Sequence[MatrixLink]) -> dict[str, Any]:
    """The data frame of the outlines; `hits` has a digit for each head, layer by layer: 1 where it follows the link."""
    return {
        "first_query": [link.queries.start for link in links],
        "end_query": [link.queries.stop for link in links],
        "first_key": [link.keys.start for link in links],
        "end_key": [link.keys.stop for link in links],
        "label": [link.label for link in links],
        "hits": ["".join("1" if hit else "0" for hit in link.hits.ravel()) for link in links],
    }


def cell_labels(links: Sequence[MatrixLink], shape: tuple[int, int]) -> np.ndarray:
    """The labels of each cell [query, key] of a map of this shape; "" where there is no link."""
    labels = np.full(shape, "", dtype=object)
    for link in links:
        for query in link.queries:
            for key in link.keys:
                labels[query, key] = "; ".join(filter(None, (labels[query, key], link.label)))
    return labels


def link_outlines() -> alt.Chart:
    """The outlines of the frame `links` over the map of the head that is pointed at or chosen."""
    is_hit = "slice(datum.hits, state.n_heads * layer + head, state.n_heads * layer + head + 1) == '1'"
    inset = "min(2, 0.1 * cell)"
    return box_between(
        alt.Chart(data("links")),
        f"map_x + cell * datum.first_key + {inset}",
        f"top + cell * datum.first_query + {inset}",
        f"map_x + cell * datum.end_key - {inset}",
        f"top + cell * datum.end_query - {inset}",
        fill=None,
        stroke=COLOUR,
        strokeWidth=alt.expr(f"{is_hit} ? 3 : 1.5"),
        strokeDash=alt.expr(f"{is_hit} ? [] : {_DASHES}"),
    )
