"""One vector as bars, with its mean and one standard deviation to either side."""

import altair as alt
import numpy as np
import pandas as pd

from ..builders.figure import Kwargs, VegaFigure, data, form, tip, value
from ..builders.number_format import format_short
from ..builders.palette import CATEGORIES, EMPHASIS
from ..builders.theme import FIT, INK, SMALL, heading_with_reading

_HEIGHT = 130
_WRITTEN = 8  # so many components at most carry their value as text
_NAMED = 16  # and so many their own number


def norm_bars(values: np.ndarray, *, title: str, reading: str) -> VegaFigure:
    """Bars of `values` [feature], with a line at their mean and a band of one population standard deviation around
    it.
    """
    mean, deviation = (float(values.mean()), float(values.std())) if values.size else (0.0, 0.0)
    feature = np.arange(len(values))
    frame = {
        "feature": feature,
        "value": np.asarray(values, float),
        "from": feature - 0.4,
        "to": feature + 0.4,
        "written": [format_short(value) for value in values],
    }
    spread = pd.DataFrame({"mean": [mean], "low": [mean - deviation], "high": [mean + deviation]})
    has_ticks = len(values) <= _NAMED
    return _chart_form(has_ticks, len(values) <= _WRITTEN).with_data(
        frame,
        in_file={"from": None, "to": None},
        frames={"spread": spread},
        values={"features": feature.tolist() if has_ticks else [], "end": max(len(values), 1) - 0.4},
        height=_HEIGHT,
        title=heading_with_reading(title, reading),
        description=f"{title}: {len(values)} numbers with mean {format_short(mean)} and deviation {format_short(deviation)}.",
    )


@form
def _chart_form(has_ticks: bool, has_numbers: bool) -> alt.TopLevelMixin:
    ticks: Kwargs = {"values": value("features")} if has_ticks else {}
    x = alt.X(
        "from:Q",
        title="feature",
        scale=alt.Scale(domain=[-0.6, value("end")], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, format="d", **ticks),
    )
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4))
    bars = alt.Chart(data()).mark_rect(color=EMPHASIS)
    bars = bars.encode(
        x=x, x2="to:Q", y=y, y2=alt.Y2Datum(0), tooltip=[tip("feature:Q"), tip("value:Q", ".4f")]
    )
    spread = alt.Chart(data("spread")).encode(
        tooltip=[
            tip(f"{field}:Q", ".4f", name)
            for field, name in (("mean", "mean"), ("low", "mean − σ"), ("high", "mean + σ"))
        ]
    )
    band = spread.mark_rect(color=CATEGORIES[1], opacity=0.15).encode(y="low:Q", y2="high:Q")
    layers = [band, bars, spread.mark_rule(color=CATEGORIES[1], strokeWidth=2).encode(y="mean:Q")]
    if has_numbers:
        distances = alt.expr("datum.value < 0 ? 9 : -8")  # from the bar's end, outwards
        texts = alt.Chart(data()).mark_text(dy=distances, fontSize=SMALL, color=INK)
        layers.append(texts.encode(x="feature:Q", y="value:Q", text="written:N"))
    return alt.layer(*layers).properties(autosize=FIT)
