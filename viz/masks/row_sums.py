"""What the weights of every query add up to."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from viz.attention.token_label import label
from viz.figure import VegaFigure, data, either, form, tip
from viz.palette import ACCENT, EMPHASIS, NEUTRAL

_HEIGHT = 200
_EACH_NAMED = 40  # queries; more have no room for their tokens


def row_sums(pattern: np.ndarray, tokens: Sequence[str], *, query: int) -> VegaFigure:
    """Sums of the rows of pattern [query, key] as bars under a line at 1; the chosen `query` is framed."""
    sums = {
        "query": [f"{place} {label(token, 14)}" for place, token in enumerate(tokens)],
        "sum": pattern.sum(axis=-1).astype(float),
        "selected": np.arange(len(tokens)) == query,
    }
    return _form(len(tokens) <= _EACH_NAMED).of(
        sums,
        frames={"line": {"one": [1]}},
        height=_HEIGHT,
        description=f"Sums of the attention weights of {len(tokens)} queries, as bars under a line at 1",
    )


@form
def _form(named: bool) -> alt.LayerChart:
    names = alt.Axis(labels=named, ticks=False, labelAngle=-50, labelLimit=0)
    bars = (
        alt.Chart(data())
        .mark_bar(color=EMPHASIS)
        .encode(
            x=alt.X("query:N", sort=None, title="query (position and token)", axis=names),
            y=alt.Y(
                "sum:Q",
                title="sum of the row",
                scale=alt.Scale(domain=[0, 1.05]),
                axis=alt.Axis(values=[0, 0.5, 1]),
            ),
            stroke=either("datum.selected", ACCENT, "transparent"),
            strokeWidth=alt.value(3),
            tooltip=[tip("query:N"), tip("sum:Q", ".4f")],
        )
    )
    one = alt.Chart(data("line")).mark_rule(color=NEUTRAL, strokeDash=[4, 4]).encode(y="one:Q")
    return alt.layer(bars, one).properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
