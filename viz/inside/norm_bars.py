"""One vector as bars, a component each, with its mean and one deviation to either side."""

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.heading import FIT, heading
from viz.numbers import short
from viz.palette import ACCENT, EMPHASIS
from viz.theme import INK

_HEIGHT = 130
_WRITTEN = 8  # so many components at most carry their value as text
_NAMED = 16  # and so many their own number


def norm_bars(values: np.ndarray, *, title: str, reading: str) -> alt.LayerChart:
    """`values` [feature] as bars; a line at their mean, a band of one population standard deviation around it."""
    mean, deviation = (float(values.mean()), float(values.std())) if values.size else (0.0, 0.0)
    rows = pd.DataFrame({"feature": np.arange(len(values)), "value": np.asarray(values, float)})
    rows["from"], rows["to"] = rows["feature"] - 0.4, rows["feature"] + 0.4
    rows["text"] = [short(value) for value in rows["value"]]
    few = len(values) <= _NAMED
    x = alt.X(
        "from:Q",
        title="feature",
        scale=alt.Scale(domain=[-0.6, max(len(values), 1) - 0.4], nice=False),
        axis=alt.Axis(
            grid=False, tickMinStep=1, format="d", **({"values": list(range(len(values)))} if few else {})
        ),
    )
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4))
    bars = (
        alt.Chart(rows)
        .mark_rect(color=EMPHASIS)
        .encode(
            x=x,
            x2=alt.X2("to:Q"),
            y=y,
            y2=alt.Y2Datum(0),
            tooltip=[alt.Tooltip("feature:Q"), alt.Tooltip("value:Q", format=".4f")],
        )
    )
    spread = alt.Chart(pd.DataFrame({"mean": [mean], "low": [mean - deviation], "high": [mean + deviation]}))
    tooltip = [alt.Tooltip("mean:Q", format=".4f"), alt.Tooltip("low:Q", format=".4f", title="mean − σ")]
    tooltip.append(alt.Tooltip("high:Q", format=".4f", title="mean + σ"))
    band = spread.mark_rect(color=ACCENT, opacity=0.15).encode(
        y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), tooltip=tooltip
    )
    rule = spread.mark_rule(color=ACCENT, strokeWidth=2).encode(y=alt.Y("mean:Q"), tooltip=tooltip)
    layers = [band, bars, rule]
    if len(values) <= _WRITTEN:
        away = alt.expr("datum.value < 0 ? 9 : -8")  # from the bar's end, outwards
        texts = alt.Chart(rows).mark_text(dy=away, color=INK)
        layers.append(texts.encode(x=alt.X("feature:Q"), y=alt.Y("value:Q"), text=alt.Text("text:N")))
    return alt.layer(*layers).properties(
        height=_HEIGHT,
        autosize=FIT,
        title=heading(title, reading),
        description=f"{title}: {len(values)} numbers with mean {mean:.2f} and deviation {deviation:.2f}.",
    )
