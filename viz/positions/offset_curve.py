"""What was measured at each offset between two positions, with what a formula says plotted over it."""

import altair as alt
import numpy as np
import pandas as pd

from viz.palette import DIFFERENCE, NEUTRAL

_HEIGHT = 340  # pixels
_FEW = 130  # offsets; of more the dots are smaller


def offset_curve(
    offsets: np.ndarray, measured: np.ndarray, formula: np.ndarray, *, what: str, law: str
) -> alt.LayerChart:
    """Dots for `measured` and a line for `formula`, both [offset]; `what` is the axis, `law` names the formula.

    Raises ValueError where the lengths differ.
    """
    if not len(offsets) == len(measured) == len(formula):
        raise ValueError(
            f"{len(offsets)} offsets, but {len(measured)} measured and {len(formula)} by formula"
        )
    points = pd.DataFrame({"offset": offsets, "measured": measured, "formula": formula})
    points["deviation"] = points["measured"] - points["formula"]
    seen = "measured, mean over all pairs"
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[seen, law], range=[NEUTRAL, DIFFERENCE[-1]]),
        legend=alt.Legend(title=None, orient="top", direction="vertical", labelLimit=0, symbolOpacity=1),
    )
    base = alt.Chart(points).encode(
        x=alt.X(
            "offset:Q",
            title="offset φ = t − s (positions)",
            scale=alt.Scale(nice=False),
            axis=alt.Axis(format="d", tickMinStep=1),
        )
    )
    dots = (
        base.transform_calculate(kind=f"'{seen}'")
        .mark_circle(opacity=0.6, size=60 if len(offsets) <= _FEW else 22)
        .encode(
            y=alt.Y("measured:Q", title=what),
            color=colour,
            tooltip=[
                alt.Tooltip("offset:Q", title="offset φ"),
                alt.Tooltip("measured:Q", format=".6f"),
                alt.Tooltip("formula:Q", format=".6f"),
                alt.Tooltip("deviation:Q", format=".1e"),
            ],
        )
    )
    line = (
        base.transform_calculate(kind=f"'{law}'")
        .mark_line(strokeWidth=1.8, aria=False, tooltip=None)
        .encode(y="formula:Q", color=colour)
    )
    return alt.layer(dots, line).properties(
        height=_HEIGHT,
        description=f"{what} over the offset of two positions: measured as dots, {law} as a line",
    )
