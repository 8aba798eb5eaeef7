"""The probability of a class for shuffled orders of an input: a dot for each order."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from ..builders.curves import probability_axis
from ..builders.figure import VegaFigure, click_on, data, either, form, tip
from ..builders.palette import ACCENT, EMPHASIS
from ..builders.theme import FIT, INK

_ROW = 70  # pixels


def shuffle_strip(
    probabilities: Mapping[str, np.ndarray],
    in_order: Mapping[str, float],
    *,
    class_name: str,
    selected: int | None,
) -> VegaFigure:
    """Dots of the probability [seed] of `class_name`, a row for each condition; a bar marks the input in its own
    order.

    Seeds count from 0; the dots of the `selected` one stand out. A click on a dot sets the point selection `seed`,
    field `seed`.
    """
    dots = [
        (condition, seed, float(probability), seed == selected, f"{condition}, seed {seed}")
        for condition, values in probabilities.items()
        for seed, probability in enumerate(values)
    ]
    dots.sort(key=lambda dot: dot[3])  # the chosen ones come last, and so on top
    columns = ["condition", "seed", "probability", "selected", "name"]
    frame = pd.DataFrame(dots, columns=columns)
    unmoved = pd.DataFrame({"condition": list(in_order), "probability": list(in_order.values())})
    return _chart_form(class_name).with_data(
        frame,
        frames={"in_order": unmoved},
        height=_ROW * max(len(probabilities), 1),
        description=f"Probability of {class_name} for {len(dots)} shuffled inputs; a bar marks the input in order.",
    )


@form
def _chart_form(class_name: str) -> alt.TopLevelMixin:
    names = alt.Axis(labelLimit=0, domain=False, ticks=False)
    channels = {
        "x": alt.X("probability:Q", title=f"probability of {class_name}", **probability_axis()),
        "y": alt.Y("condition:N", title=None, sort=None, axis=names),
    }
    condition = tip("condition:N")
    bars = alt.Chart(data("in_order")).mark_tick(thickness=2, size=_ROW * 0.8, color=INK, aria=False)
    points = alt.Chart(data()).mark_circle(cursor="pointer", opacity=0.75)
    points = points.encode(
        **channels,
        # Spread over the row, or equal dots would hide each other.
        yOffset=alt.YOffset("seed:Q", scale=alt.Scale(padding=0.15)),
        color=either("datum.selected", ACCENT, EMPHASIS),
        size=either("datum.selected", 160, 45),
        description="name:N",
        tooltip=[condition, tip("seed:Q"), tip("probability:Q", ".6f")],
    ).add_params(click_on("seed", "seed"))
    exactly = tip("probability:Q", ".6f", "in order")
    return alt.layer(bars.encode(**channels, tooltip=[condition, exactly]), points).properties(autosize=FIT)
