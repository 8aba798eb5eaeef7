"""The probability of a class for shuffled orders of an input: a dot for each order."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, dots, layer
from ..builders.curves import probability_axis
from ..builders.figure import Kwargs, VegaFigure, tip
from ..builders.theme import INK

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
    pairs = [(condition, seed) for condition, values in probabilities.items() for seed in range(len(values))]
    is_selected = [seed == selected for _, seed in pairs]
    columns = [
        Column("condition", [condition for condition, _ in pairs]),
        Column("seed", [seed for _, seed in pairs]),
        Column(
            "probability", [float(probabilities[condition][seed]) for condition, seed in pairs], format=".6f"
        ),
    ]
    channels = {
        "x": alt.X("probability:Q", title=f"probability of {class_name}", **probability_axis()),
        "y": alt.Y(
            "condition:N", title=None, sort=None, axis=alt.Axis(labelLimit=0, domain=False, ticks=False)
        ),
    }
    in_order_tips = {"tooltip": [tip("condition:N"), tip("probability:Q", ".6f", "in order")]}
    # Spread over the row, or equal dots would hide each other.
    spread = {"yOffset": alt.YOffset("seed:Q", scale=alt.Scale(padding=0.15))}
    bar: Kwargs = {"thickness": 2, "size": _ROW * 0.8, "color": INK, "aria": False}
    return chart(
        columns,
        layer("tick", channels | in_order_tips, "in_order", **bar),
        dots(channels | spread, columns, ("seed", "seed"), sizes=(160, 45), mark="circle", opacity=0.75),
        drawing={
            "selected": is_selected,
            "name": [f"{condition}, seed {seed}" for condition, seed in pairs],
        },
        last=np.array(is_selected, bool),
        frames={"in_order": {"condition": list(in_order), "probability": list(in_order.values())}},
        height=_ROW * max(len(probabilities), 1),
        description=f"Probability of {class_name} for {len(pairs)} shuffled inputs; a bar marks the input in order.",
    )
