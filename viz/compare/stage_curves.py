"""One number a stage of the residual stream, a curve for each side."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import FIRST, SECOND, SHAPES


def stage_curves(
    curves: Mapping[str, np.ndarray],
    stages: Sequence[str],
    *,
    y_title: str,
    x_title: str = "stage of the stream",
    from_zero_to: float | None = None,
) -> alt.LayerChart:
    """Values [stage] of the two sides by name, over `stages` in order; the shallower side ends earlier.

    The axis reaches from 0 to `from_zero_to`, or to the largest value. Raises ValueError where there are more
    values than stages.
    """
    if (longest := max(map(len, curves.values()), default=0)) > len(stages):
        raise ValueError(f"{longest} values need as many stages, got {len(stages)}")
    rows = pd.DataFrame(
        [
            {"side": name, "stage": stage, "value": float(value)}
            for name, values in curves.items()
            for stage, value in zip(stages, values, strict=False)
        ],
        columns=["side", "stage", "value"],
    )
    top = from_zero_to or (float(rows["value"].max()) if len(rows) else 1.0) or 1.0
    legend = alt.Legend(title=None, orient="top", labelLimit=0)
    base = alt.Chart(rows).encode(
        x=alt.X(
            "stage:N",
            sort=list(stages),
            title=x_title,
            axis=alt.Axis(labelAngle=-45, labelOverlap="greedy"),
        ),
        y=alt.Y("value:Q", title=y_title, scale=alt.Scale(domain=[0, top])),
        color=alt.Color(
            "side:N",
            scale=alt.Scale(domain=list(curves), range=[FIRST, SECOND]),
            legend=legend,
        ),
        tooltip=["side:N", "stage:N", alt.Tooltip("value:Q", format=".4f", title=y_title)],
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape(
            "side:N", scale=alt.Scale(domain=list(curves), range=SHAPES[: len(curves)]), legend=legend
        )
    )
    return alt.layer(base.mark_line(strokeWidth=2.5), points).properties(
        height=240,
        autosize={"type": "fit-x", "contains": "padding"},  # the names below take nothing from the curves
        description=f"{y_title}, over {len(stages)} stages, of {' and '.join(curves)}",
    )
