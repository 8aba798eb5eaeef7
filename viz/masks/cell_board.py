"""A pattern as a board of cells: a click forbids a query to attend to a key, or allows it again."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import frame_layers
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, need_shape, value
from ..builders.heatmap import position_labels
from ..builders.label_placement import named_positions
from ..builders.palette import NEUTRAL, TO_ONE, WeightScale, hatching
from ..builders.picture_marks import whole_picture
from ..builders.theme import SMALL, UPRIGHT
from ..builders.token_label import FONT
from ..builders.vega_colours import attention_colour, weight_legend

_SIDE = 370  # pixels of the board, while a cell stays between the smallest and the largest
_SMALLEST, _LARGEST = 7, 34
_LONGEST_LABEL = 90


def cell_board(
    pattern: np.ndarray, tokens: Sequence[str], *, mask: np.ndarray, query: int, scale: WeightScale = TO_ONE
) -> VegaFigure:
    """A board of weights [query, key], with queries from the top; cells that `mask` [query, key] forbids (False) are
    hatched.

    The row of `query` is framed. A click on a cell sets the point selection `cell`, fields `query`, `key` and
    `blocked`, so that a second click on a cell differs from the first. Raises ValueError where the shapes do not fit.
    """
    n_tokens = len(tokens)
    need_shape((n_tokens, n_tokens), pattern=pattern, mask=mask)
    side = n_tokens * int(np.clip(_SIDE // max(n_tokens, 1), _SMALLEST, _LARGEST))
    queries, keys = np.indices((n_tokens, n_tokens)).reshape(2, -1)
    names = np.array([f"{position} {token}" for position, token in enumerate(tokens)], dtype=object)
    columns = [
        Column("query", queries, None),
        Column("key", keys, None),
        Column("query token", names[queries], "query"),
        Column("key token", names[keys], "key"),
        Column("weight", pattern, "attention weight", ".4f"),
        Column("blocked", ~mask, "masked"),
    ]
    legend = weight_legend(scale, int(mask[query].sum()), "the allowed keys")
    axis: Kwargs = {"labelExpr": "labels[datum.value]", "labelLimit": _LONGEST_LABEL}
    axis |= {"labelOverlap": False, "values": value("named"), "ticks": False, "domain": False}
    axis |= {"labelFont": FONT, "labelFontSize": SMALL}
    name = "datum['query token'] + ' to ' + datum['key token'] + (datum.blocked ? ', masked' : '')"
    board = {
        "x": alt.X("key:O", title="key", axis=alt.Axis(orient="top", labelAngle=UPRIGHT, **axis)),
        "y": alt.Y("query:O", title="query", axis=alt.Axis(**axis)),
        "color": attention_colour(legend.title),
        "stroke": alt.value(NEUTRAL),
        "strokeWidth": either("datum.blocked", 2, 0.3),
        "description": "label:N",
        "tooltip": columns,
    }
    click = ("cell", "query", "key", "blocked")
    return chart(
        columns,
        layer("rect", board, calculate={"label": name}, cursor="pointer", click=click),
        whole_picture("hatched", aspect=False),
        *frame_layers({"y": "query:O"}, "chosen", 2),
        frames={"hatched": {"url": [hatching(mask)]}, "chosen": {"query": [query]}},
        values={
            "labels": position_labels(tokens),
            "named": named_positions(range(n_tokens), [query], SMALL, side),
            **legend.values,
        },
        width=side,
        height=side,
        autosize="pad",
        description=f"Attention of {n_tokens} queries to {n_tokens} keys; the row of query {query} is framed, "
        f"{(~mask).sum()} cells are masked",
    )
