"""One vector as bars, with its mean and one standard deviation to either side."""

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, tip, value
from ..builders.number_format import format_short
from ..builders.palette import CATEGORIES, EMPHASIS
from ..builders.theme import INK, SMALL, heading_with_reading

_HEIGHT = 130
_WRITTEN = 8  # so many components at most carry their value as text
_NAMED = 16  # and so many their own number


def norm_bars(values: np.ndarray, *, title: str, reading: str) -> VegaFigure:
    """Bars of `values` [feature], with a line at their mean and a band of one population standard deviation around
    it.
    """
    mean, deviation = (float(values.mean()), float(values.std())) if values.size else (0.0, 0.0)
    feature = np.arange(len(values))
    columns = [Column("feature", feature), Column("value", np.asarray(values, float), format=".4f")]
    has_ticks = len(values) <= _NAMED
    ticks: Kwargs = {"values": value("features")} if has_ticks else {}
    bars = {
        "x": alt.X(
            "from:Q",
            title="feature",
            scale=alt.Scale(domain=[-0.6, value("end")], nice=False),
            axis=alt.Axis(grid=False, tickMinStep=1, format="d", **ticks),
        ),
        "x2": "to:Q",
        "y": alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4)),
        "y2": alt.Y2Datum(0),
        "tooltip": columns,
    }
    names = {"mean": "mean", "low": "mean − σ", "high": "mean + σ"}
    spread = {"tooltip": [tip(f"{field}:Q", ".4f", name) for field, name in names.items()]}
    text = {"x": "feature:Q", "y": "value:Q", "text": "written:N"}
    distances = alt.expr("datum.value < 0 ? 9 : -8")  # from the bar's end, outwards
    return chart(
        columns,
        layer("rect", spread | {"y": "low:Q", "y2": "high:Q"}, "spread", color=CATEGORIES[1], opacity=0.15),
        layer("rect", bars, color=EMPHASIS),
        layer("rule", spread | {"y": "mean:Q"}, "spread", color=CATEGORIES[1], strokeWidth=2),
        layer("text", text, dy=distances, fontSize=SMALL, color=INK) if len(values) <= _WRITTEN else None,
        drawing={
            "from": feature - 0.4,
            "to": feature + 0.4,
            "written": [format_short(number) for number in values],
        },
        frames={"spread": {"mean": [mean], "low": [mean - deviation], "high": [mean + deviation]}},
        values={"features": feature.tolist() if has_ticks else [], "end": max(len(values), 1) - 0.4},
        height=_HEIGHT,
        title=heading_with_reading(title, reading),
        description=f"{title}: {len(values)} numbers with mean {format_short(mean)} and deviation {format_short(deviation)}.",
    )
