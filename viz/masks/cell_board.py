"""A pattern as a grid of cells in which a click forbids or allows one query to attend to one key; and the weights of
one query before and after a mask, as pairs of points.
"""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import frame_layers
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, conditional_value, value
from ..builders.heatmap import position_labels
from ..builders.label_placement import named_positions
from ..builders.palette import EMPHASIS, FALLS, MASKED, NEUTRAL, RISES, TO_ONE, WeightScale, hatching
from ..builders.picture_marks import whole_picture
from ..builders.theme import SMALL, UPRIGHT
from ..builders.token_label import FONT, label
from ..builders.vega_colours import attention_colour, weight_legend

_SIDE = 370  # pixels of the board, while a cell stays between the smallest and the largest
_SMALLEST, _LARGEST = 7, 34
_LONGEST_LABEL = 90
_ROW = 24  # pixels
MOST_KEYS = 20  # of which the change is shown
_LONGEST_TOKEN = 16  # cells
_STATES = _BEFORE, _AFTER, _MASKED = "before", "after", "masked"
_LEGEND = alt.Legend(title=None, orient="top")


def cell_board(
    pattern: np.ndarray, tokens: Sequence[str], *, mask: np.ndarray, query: int, scale: WeightScale = TO_ONE
) -> VegaFigure:
    """A grid of the weights of a `pattern` [query, key], a row for each query; cells that `mask` [query, key] forbids
    (False) are hatched.

    The row of `query` is framed. A click on a cell sets the point selection `cell`, fields `query`, `key` and
    `blocked`, so that a second click on a cell differs from the first.
    """
    n_tokens = len(tokens)
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
        "strokeWidth": conditional_value("datum.blocked", 2, 0.3),
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


def attention_shift(
    before: np.ndarray, after: np.ndarray, tokens: Sequence[str], *, allowed: np.ndarray
) -> VegaFigure:
    """Pairs of points: the attention weights [key] of one query `before` and `after` a mask, a row for each key, from
    the largest loss to the largest gain.

    If there are more than `MOST_KEYS` keys, those that changed most are shown. A key that the mask forbids (`allowed`
    [key] is False) ends in a cross.
    """
    change = after - before
    most_changed = np.argsort(-np.abs(change), kind="stable")[:MOST_KEYS]
    positions = most_changed[np.argsort(change[most_changed], kind="stable")]
    columns = [
        Column("key", [f"{position} {label(tokens[position], _LONGEST_TOKEN)}" for position in positions]),
        Column(_BEFORE, before[positions], "", ".4f"),
        Column(_AFTER, after[positions], "", ".4f"),
        Column("change", change[positions], "", "+.4f"),
    ]
    y_axis = alt.Axis(labelLimit=0, labelFont=FONT)
    base = {
        "y": alt.Y("key:N", sort=None, title="key (position and token)", axis=y_axis),
        "tooltip": columns,
    }
    rules = base | {
        "x": alt.X(f"{_BEFORE}:Q", title="attention weight (share of the row)", scale=alt.Scale(domainMin=0)),
        "x2": f"{_AFTER}:Q",
        "color": conditional_value("datum.change < 0", FALLS, RISES),
    }
    shapes = alt.Scale(domain=_STATES, range=["circle", "diamond", "cross"])
    colours = alt.Scale(domain=_STATES, range=[NEUTRAL, EMPHASIS, MASKED])
    base |= {
        "shape": alt.Shape("state:N", scale=shapes),
        "color": alt.Color("state:N", scale=colours, legend=_LEGEND),
    }
    points = [
        layer(
            "point",
            base | {"x": f"{field}:Q"},
            calculate={"state": state},
            size=80,
            strokeWidth=2.5,
            opacity=1,
        )
        for field, state in ((_BEFORE, f"'{_BEFORE}'"), (_AFTER, "datum.end"))
    ]
    return chart(
        columns,
        layer("rule", rules, strokeWidth=3, aria=False),
        *points,
        drawing={"end": np.where(allowed[positions], _AFTER, _MASKED)},
        height=_ROW * max(len(positions), 1),
        description=f"Attention weight before and after the mask, for {len(positions)} keys, as pairs of points",
    )
