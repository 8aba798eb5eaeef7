"""Bars over tokens: the sum of each query's weights, or the change of a probability when each token is hidden."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, Rows, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, need_shape, value
from ..builders.label_placement import name_axis
from ..builders.palette import ACCENT, EMPHASIS, FALLS, NEUTRAL, RISES
from ..builders.token_label import label, visible

_HEIGHT = 200
_SEPARATE = 60  # tokens; between the bars of more there is no gap


def row_sums(pattern: np.ndarray, tokens: Sequence[str], *, query: int) -> VegaFigure:
    """Bars of the row sums of a pattern [query, key], with a line at 1; the bar of the chosen `query` is framed."""
    columns = [
        Column("query", [f"{position} {label(token, 14)}" for position, token in enumerate(tokens)]),
        Column("sum", pattern.sum(axis=-1), "", ".4f"),
    ]
    y_options: Kwargs = {"scale": alt.Scale(domain=[0, 1.05]), "axis": alt.Axis(values=[0, 0.5, 1])}
    bars = {
        "x": alt.X("query:N", sort=None, title="query (position and token)", axis=name_axis(grid=False)),
        "y": alt.Y("sum:Q", title="sum of the row", **y_options),
        "stroke": either("datum.selected", ACCENT, "transparent"),
        "strokeWidth": alt.value(3),
        "tooltip": columns,
    }
    return chart(
        columns,
        layer("bar", bars, color=EMPHASIS),
        layer("rule", {"y": "one:Q"}, "line", color=NEUTRAL, strokeDash=[4, 4]),
        drawing={"selected": np.arange(len(tokens)) == query},
        values={"first": query},
        frames={"line": {"one": [1]}},
        height=_HEIGHT,
        description=f"Sums of the attention weights of {len(tokens)} queries, as bars under a line at 1",
    )


def knock_out_bars(
    tokens: Sequence[str],
    change: np.ndarray,
    *,
    query: int | None,
    limit: float,
    what: str,
    how: str = "from every query",
) -> VegaFigure:
    """Bars of the `change` [position] of the probability `what` when each token is hidden: negative changes are purple,
    positive ones gold.

    The axis goes from -`limit` to `limit`; `how` describes how tokens are hidden. The bar of the token `query` is
    outlined. A click on a bar sets the point selection `token`, field `position`. Raises ValueError if tokens and
    changes differ in number.
    """
    need_shape((len(tokens),), change=change)
    position = np.arange(len(tokens))
    columns = [
        Column("position", position),
        Column("token", [visible(token) for token in tokens]),
        Column("change", np.asarray(change, float), f"change of {what}", "+.4f", f"change of {what}"),
    ]
    scale = alt.Scale(paddingInner=0.15 if len(tokens) <= _SEPARATE else 0)
    x = {"x": alt.X("name:N", sort=None, title=None, axis=name_axis(grid=False), scale=scale)}
    bars = x | {
        "y": alt.Y(
            "change:Q",
            title=f"Δ {what}",
            scale=alt.Scale(domain=[alt.ExprRef("-limit"), value("limit")], nice=False),
            axis=alt.Axis(labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'", tickCount=5),
        ),
        "color": either("datum.change < 0", FALLS, RISES),
    }
    # The whole height of a token is its target: a bar of nothing could not be clicked.
    cover = x | {
        "y": alt.value(0),
        "y2": alt.value("height"),
        "stroke": either("datum.selected", ACCENT, "transparent"),
        "strokeWidth": alt.value(2),
        "description": "token:N",
        "tooltip": [columns[1], columns[0], columns[2]],
    }
    one_row = Rows().then({"aggregate": [{"op": "count", "as": "n"}]})
    return chart(
        columns,
        layer("bar", bars, aria=False),
        layer("rule", {"y": alt.datum(0)}, one_row, color=NEUTRAL),
        layer("rect", cover, fill="transparent", cursor="pointer", click=("token", "position")),
        drawing={
            "name": [f"{index} {label(token, 14)}" for index, token in enumerate(tokens)],
            "selected": position == query,
        },
        values={"limit": limit, "first": -1 if query is None else query},
        height=170,
        description=f"Change of {what} with each of {len(tokens)} tokens hidden ({how})",
    )
