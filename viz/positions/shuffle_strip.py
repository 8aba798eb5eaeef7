"""What many orders of the same input do to one probability: a dot an order."""

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import ACCENT, EMPHASIS
from viz.theme import INK

_ROW = 70  # pixels


def shuffle_strip(
    probabilities: Mapping[str, np.ndarray],
    in_order: Mapping[str, float],
    *,
    of: str,
    selected: int | None,
) -> alt.LayerChart:
    """Probabilities [seed] of the class `of`, a row of dots for each condition; a bar marks the input in order.

    Seeds count from 0; the dots of the `selected` one stand out. A click on a dot sets the point selection
    `seed`, field `seed`.
    """
    rows = [
        {
            "condition": condition,
            "seed": seed,
            "probability": float(value),
            "chosen": seed == selected,
            "name": f"{condition}, seed {seed}",
        }
        for condition, values in probabilities.items()
        for seed, value in enumerate(values)
    ]
    dots = pd.DataFrame(rows, columns=["condition", "seed", "probability", "chosen", "name"])
    unmoved = pd.DataFrame({"condition": list(in_order), "probability": list(in_order.values())})
    x = alt.X(
        "probability:Q",
        title=f"probability of {of}",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    y = alt.Y("condition:N", title=None, sort=None, axis=alt.Axis(labelLimit=0, domain=False, ticks=False))
    bars = (
        alt.Chart(unmoved)
        .mark_tick(thickness=2, size=_ROW * 0.8, color=INK, aria=False)
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("condition:N"),
                alt.Tooltip("probability:Q", format=".6f", title="in order"),
            ],
        )
    )
    points = (
        alt.Chart(dots.sort_values("chosen", kind="stable"))
        .mark_circle(cursor="pointer", opacity=0.75)
        .encode(
            x=x,
            y=y,
            # Spread over the row, or equal dots would hide each other.
            yOffset=alt.YOffset("seed:Q", scale=alt.Scale(padding=0.15)),
            color=alt.when("datum.chosen").then(alt.value(ACCENT)).otherwise(alt.value(EMPHASIS)),
            size=alt.when("datum.chosen").then(alt.value(160)).otherwise(alt.value(45)),
            description="name:N",
            tooltip=[
                alt.Tooltip("condition:N"),
                alt.Tooltip("seed:Q"),
                alt.Tooltip("probability:Q", format=".6f"),
            ],
        )
        .add_params(alt.selection_point(name="seed", fields=["seed"], toggle=False, clear=False))
    )
    return alt.layer(bars, points).properties(
        height=_ROW * max(len(probabilities), 1),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        description=f"Probability of {of} for {len(dots)} shuffled inputs; a bar marks the input in order.",
    )
