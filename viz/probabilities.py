"""What the classifier answered: a bar a class."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import EMPHASIS, NEUTRAL
from viz.theme import INK

_STEP = 20  # pixels a class
_TEXT = 56  # pixels behind a full bar, for ">99.9 %"
_NAMES = alt.Axis(labelOverlap=False, labelFlush=False)  # every name, each at its bar
_PERCENT = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format="%", grid=False, labelPadding=6, labelFlush=False)


def probabilities(values: np.ndarray, names: Sequence[str]) -> alt.LayerChart:
    """Probabilities [class] as horizontal bars in the order given, the largest emphasised.

    Raises ValueError where values and names differ in number.
    """
    if len(values) != len(names):
        raise ValueError(f"{len(names)} class names need as many probabilities, got {len(values)}")
    bars = pd.DataFrame(
        {
            "class": list(names),
            "probability": np.asarray(values, dtype=float),
            "percent": [
                _percent(value, alone=not np.delete(values, place).any())
                for place, value in enumerate(values)
            ],
            "largest": np.arange(len(values)) == (np.argmax(values) if len(values) else -1),
        }
    )
    base = alt.Chart(bars).encode(
        x=alt.X(
            "probability:Q",
            title=None,
            stack=None,
            scale=alt.Scale(domain=[0, 1], range=[0, alt.expr(f"max(width - {_TEXT}, 1)")]),
            axis=_PERCENT,
        ),
        y=alt.Y("class:N", title=None, sort=None, axis=_NAMES),
        tooltip=[alt.Tooltip("class:N"), alt.Tooltip("probability:Q", format=".4f")],
    )
    return (
        base.mark_bar(cornerRadiusEnd=3).encode(
            color=alt.condition("datum.largest", alt.value(EMPHASIS), alt.value(NEUTRAL))
        )
        + base.mark_text(align="left", dx=5, color=INK).encode(text="percent:N")
    ).properties(
        height=_STEP * max(len(bars), 1),
        autosize={"type": "fit-x", "contains": "padding"},  # the axis below takes nothing from the bars
        description="The classifier's probability for each class, as bars.",
    )


def _percent(value: float, *, alone: bool) -> str:
    """A probability that rounds to 0 % or 100 % without being it says so; it is 100 % only where it is `alone`."""
    if 0 < value < 0.0005:
        return "<0.1 %"
    if value >= 0.9995 and not (value == 1 and alone):
        return ">99.9 %"
    return f"{value:.1%}".replace("%", " %")
