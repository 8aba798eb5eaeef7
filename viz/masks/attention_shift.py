"""Attention weights of one query before and after a mask, as pairs of points."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import VegaFigure, either, need_shape
from ..builders.palette import EMPHASIS, FALLS, MASKED, NEUTRAL, RISES
from ..builders.token_label import FONT, label

_ROW = 24  # pixels
_LONGEST_TOKEN = 16  # cells
_STATES = _BEFORE, _AFTER, _MASKED = "before", "after", "masked"
_LEGEND = alt.Legend(title=None, orient="top")


def attention_shift(
    before: np.ndarray, after: np.ndarray, tokens: Sequence[str], *, allowed: np.ndarray, at_most: int = 20
) -> VegaFigure:
    """Pairs of points: attention weights [key] before and after, a row for each key, from the largest loss to the
    largest gain.

    If there are more than `at_most` keys, those that changed most are shown. A key that is not `allowed` [key]
    (False) ends in a cross. Raises ValueError where the lengths differ.
    """
    need_shape((len(tokens),), before=before, after=after, allowed=allowed)
    change = after - before
    most_changed = np.argsort(-np.abs(change), kind="stable")[:at_most]
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
        "color": either("datum.change < 0", FALLS, RISES),
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
