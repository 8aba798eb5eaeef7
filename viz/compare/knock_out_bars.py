"""What the answer loses or gains when a token is knocked out: a bar a token."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.attention.token_label import label, visible
from viz.palette import ACCENT, DIFFERENCE, NEUTRAL

_NAMED = 60  # beyond so many tokens their names would cover each other


def knock_out_bars(
    tokens: Sequence[str], change: np.ndarray, *, query: int | None, limit: float, what: str
) -> alt.LayerChart:
    """Changes [position] of a probability, from -`limit` to `limit`; blue where it falls, orange where it rises.

    The token `query` is outlined. A click on a bar sets the point selection `token`, field `position`.
    Raises ValueError where tokens and changes differ in number.
    """
    if len(tokens) != len(change):
        raise ValueError(f"{len(tokens)} tokens need as many changes, got {len(change)}")
    bars = pd.DataFrame(
        {
            "position": np.arange(len(tokens)),
            "token": [visible(token) for token in tokens],
            "name": [f"{position} {label(token, 14)}" for position, token in enumerate(tokens)],
            "change": np.asarray(change, dtype=float),
        }
    )
    bars["chosen"] = bars["position"] == query
    bars["bottom"], bars["top"] = -limit, limit
    named = len(tokens) <= _NAMED
    axis = (
        alt.Axis(labelAngle=-60, labelOverlap=False, title=None, grid=False, ticks=False)
        if named
        else alt.Axis(values=list(bars["name"][::25]), labelAngle=-60, title="token", grid=False)
    )
    base = alt.Chart(bars).encode(
        x=alt.X("name:N", sort=None, axis=axis, scale=alt.Scale(paddingInner=0.15 if named else 0)),
    )
    falls, rises = DIFFERENCE[0], DIFFERENCE[-1]
    coloured = base.mark_bar(aria=False).encode(
        y=alt.Y(
            "change:Q",
            title=f"Δ{what}",
            scale=alt.Scale(domain=[-limit, limit], nice=False),
            axis=alt.Axis(labelExpr="datum.value ? format(datum.value, '+.3~g') : '0'", tickCount=5),
        ),
        color=alt.when("datum.change < 0").then(alt.value(falls)).otherwise(alt.value(rises)),
    )
    # The whole height of a token is its target: a bar of nothing could not be clicked.
    cover = (
        base.mark_bar(fill="transparent", cursor="pointer")
        .encode(
            y=alt.Y("bottom:Q"),
            y2="top:Q",
            stroke=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value("transparent")),
            strokeWidth=alt.value(2),
            description="token:N",
            tooltip=[
                "token:N",
                "position:Q",
                alt.Tooltip("change:Q", format="+.4f", title=f"change of {what}"),
            ],
        )
        .add_params(alt.selection_point(name="token", fields=["position"], toggle=False, clear=False))
    )
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=NEUTRAL).encode(y="zero:Q")
    return alt.layer(coloured, zero, cover).properties(
        height=170,
        autosize={"type": "fit-x", "contains": "padding"},  # the names below take nothing from the bars
        description=f"Change of {what} with each of {len(tokens)} tokens masked out of the keys",
    )
