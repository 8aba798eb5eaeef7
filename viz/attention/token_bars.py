"""Bars over tokens: the sum of each query's weights, or the change of a probability when each token is hidden."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.figure import Kwargs, VegaFigure, click_on, data, either, form, need_shape, tip, value
from ..builders.label_placement import name_axis
from ..builders.palette import ACCENT, EMPHASIS, FALLS, NEUTRAL, RISES
from ..builders.theme import FIT
from ..builders.token_label import label, visible

_HEIGHT = 200
_SEPARATE = 60  # tokens; between the bars of more there is no gap


def row_sums(pattern: np.ndarray, tokens: Sequence[str], *, query: int) -> VegaFigure:
    """Bars of the row sums of a pattern [query, key], with a line at 1; the bar of the chosen `query` is framed."""
    sums = {
        "query": [f"{position} {label(token, 14)}" for position, token in enumerate(tokens)],
        "sum": pattern.sum(axis=-1).astype(float),
        "selected": np.arange(len(tokens)) == query,
    }
    return _row_sums_form().with_data(
        sums,
        values={"first": query},
        frames={"line": {"one": [1]}},
        height=_HEIGHT,
        description=f"Sums of the attention weights of {len(tokens)} queries, as bars under a line at 1",
    )


@form
def _row_sums_form() -> alt.TopLevelMixin:
    y_options: Kwargs = {"scale": alt.Scale(domain=[0, 1.05]), "axis": alt.Axis(values=[0, 0.5, 1])}
    bars = alt.Chart(data()).mark_bar(color=EMPHASIS)
    bars = bars.encode(
        x=alt.X("query:N", sort=None, title="query (position and token)", axis=name_axis(grid=False)),
        y=alt.Y("sum:Q", title="sum of the row", **y_options),
        stroke=either("datum.selected", ACCENT, "transparent"),
        strokeWidth=alt.value(3),
        tooltip=[tip("query:N"), tip("sum:Q", ".4f")],
    )
    limit_line = alt.Chart(data("line")).mark_rule(color=NEUTRAL, strokeDash=[4, 4]).encode(y="one:Q")
    return alt.layer(bars, limit_line).properties(autosize=FIT)


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
    frame = {
        "position": position,
        "token": [visible(token) for token in tokens],
        "name": [f"{position} {label(token, 14)}" for position, token in enumerate(tokens)],
        "change": np.asarray(change, dtype=float),
        "selected": position == query,
    }
    return _changes_form(what, len(tokens) <= _SEPARATE).with_data(
        frame,
        in_file={"name": None, "change": f"change of {what}"},
        values={"limit": limit, "first": -1 if query is None else query},
        description=f"Change of {what} with each of {len(tokens)} tokens hidden ({how})",
    )


@form
def _changes_form(what: str, are_separate: bool) -> alt.TopLevelMixin:
    scale = alt.Scale(paddingInner=0.15 if are_separate else 0)
    base = alt.Chart(data()).encode(
        x=alt.X("name:N", sort=None, title=None, axis=name_axis(grid=False), scale=scale)
    )
    coloured = base.mark_bar(aria=False).encode(
        y=alt.Y(
            "change:Q",
            title=f"Δ {what}",
            scale=alt.Scale(domain=[alt.ExprRef("-limit"), value("limit")], nice=False),
            axis=alt.Axis(labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'", tickCount=5),
        ),
        color=either("datum.change < 0", FALLS, RISES),
    )
    zero = alt.Chart(data()).transform_aggregate(n="count()").mark_rule(color=NEUTRAL).encode(y=alt.datum(0))
    # The whole height of a token is its target: a bar of nothing could not be clicked.
    click_area = base.mark_rect(fill="transparent", cursor="pointer").encode(
        y=alt.value(0),
        y2=alt.value("height"),
        stroke=either("datum.selected", ACCENT, "transparent"),
        strokeWidth=alt.value(2),
        description="token:N",
        tooltip=[tip("token:N"), tip("position:Q"), tip("change:Q", "+.4f", f"change of {what}")],
    )
    click_area = click_area.add_params(click_on("token", "position"))
    return alt.layer(coloured, zero, click_area).properties(height=170, autosize=FIT)
