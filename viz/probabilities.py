"""What the classifier answered: a bar a class."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.figure import VegaFigure, data, either, form, tip
from viz.numbers import percent
from viz.palette import EMPHASIS, NEUTRAL
from viz.theme import INK

_STEP = 20  # pixels a class
_TEXT = 56  # pixels behind a full bar, for ">99.9 %"
_NAMES = alt.Axis(labelOverlap=False, labelFlush=False)  # every name, each at its bar
_PERCENT = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format="%", grid=False, labelPadding=6, labelFlush=False)


def probabilities(values: np.ndarray, names: Sequence[str]) -> VegaFigure:
    """Probabilities [class] as horizontal bars in the order given, the largest emphasised.

    Raises ValueError where values and names differ in number.
    """
    if len(values) != len(names):
        raise ValueError(f"{len(names)} class names need as many probabilities, got {len(values)}")
    bars = {
        "class": list(names),
        "probability": np.asarray(values, dtype=float),
        "percent": _percents(np.asarray(values, dtype=float)),
        "largest": np.arange(len(values)) == (np.argmax(values) if len(values) else -1),
    }
    return _form().of(pd.DataFrame(bars), height=_STEP * max(len(values), 1))


@form
def _form() -> alt.LayerChart:
    share = alt.Scale(domain=[0, 1], range=[0, alt.expr(f"max(width - {_TEXT}, 1)")])
    base = alt.Chart(data()).encode(
        x=alt.X("probability:Q", title=None, stack=None, scale=share, axis=_PERCENT),
        y=alt.Y("class:N", title=None, sort=None, axis=_NAMES),
        tooltip=[tip("class:N"), tip("probability:Q", ".4f")],
    )
    colour = either("datum.largest", EMPHASIS, NEUTRAL)
    return alt.layer(
        base.mark_bar(cornerRadiusEnd=3).encode(color=colour),
        base.mark_text(align="left", dx=5, color=INK).encode(text="percent:N"),
    ).properties(
        autosize={"type": "fit-x", "contains": "padding"},  # the axis below takes nothing from the bars
        description="The classifier's probability for each class, as bars.",
    )


def _percents(values: np.ndarray) -> list[str]:
    """As text; what rounds to 0 % or 100 % says so only where it is that, 100 % only where no other class has any."""
    one_below = np.nextafter(1, 0) if np.count_nonzero(values) > 1 else 1.0
    return [percent(min(value, one_below), below="<", above=">") for value in values.tolist()]
