"""What the answer loses or gains when a token is knocked out: a bar a token."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.attention.token_label import label, visible
from viz.figure import VegaFigure, click_on, data, either, form, tip, value
from viz.palette import ACCENT, DIFFERENCE, NEUTRAL
from viz.theme import FIT

_NAMED = 60  # beyond so many tokens their names would cover each other


def knock_out_bars(
    tokens: Sequence[str], change: np.ndarray, *, query: int | None, limit: float, what: str
) -> VegaFigure:
    """Changes [position] of a probability, from -`limit` to `limit`; blue where it falls, orange where it rises.

    The token `query` is outlined. A click on a bar sets the point selection `token`, field `position`.
    Raises ValueError where tokens and changes differ in number.
    """
    if len(tokens) != len(change):
        raise ValueError(f"{len(tokens)} tokens need as many changes, got {len(change)}")
    position = np.arange(len(tokens))
    frame = {
        "position": position,
        "token": [visible(token) for token in tokens],
        "name": [f"{position} {label(token, 14)}" for position, token in enumerate(tokens)],
        "change": np.asarray(change, dtype=float),
        "selected": position == query,
    }
    return _form(what, len(tokens) <= _NAMED).of(
        frame,
        values={"limit": limit, "now_and_then": list(frame["name"][::25])},
        description=f"Change of {what} with each of {len(tokens)} tokens masked out of the keys",
    )


@form
def _form(what: str, named: bool) -> alt.LayerChart:
    axis = (
        alt.Axis(labelAngle=-60, labelOverlap=False, title=None, grid=False, ticks=False)
        if named
        else alt.Axis(values=value("now_and_then"), labelAngle=-60, title="token", grid=False)
    )
    scale = alt.Scale(paddingInner=0.15 if named else 0)
    base = alt.Chart(data()).encode(x=alt.X("name:N", sort=None, axis=axis, scale=scale))
    falls, rises = DIFFERENCE[0], DIFFERENCE[-1]
    coloured = base.mark_bar(aria=False).encode(
        y=alt.Y(
            "change:Q",
            title=f"Δ{what}",
            scale=alt.Scale(domain=[alt.ExprRef("-limit"), value("limit")], nice=False),
            axis=alt.Axis(labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'", tickCount=5),
        ),
        color=either("datum.change < 0", falls, rises),
    )
    zero = alt.Chart(data()).transform_aggregate(n="count()").mark_rule(color=NEUTRAL).encode(y=alt.datum(0))
    # The whole height of a token is its target: a bar of nothing could not be clicked.
    cover = base.mark_rect(fill="transparent", cursor="pointer").encode(
        y=alt.value(0),
        y2=alt.value("height"),
        stroke=either("datum.selected", ACCENT, "transparent"),
        strokeWidth=alt.value(2),
        description="token:N",
        tooltip=[tip("token:N"), tip("position:Q"), tip("change:Q", "+.4f", f"change of {what}")],
    )
    return alt.layer(coloured, zero, cover.add_params(click_on("token", "position"))).properties(
        height=170, autosize=FIT
    )
