"""A batch of vectors as a table, with a frame of one colour around the numbers that share a mean and a deviation."""

from typing import Literal

import altair as alt
import numpy as np
import pandas as pd

from viz.inside.heading import FIT, heading
from viz.numbers import short
from viz.palette import CATEGORIES
from viz.theme import INK

_ROW = 54  # pixels
_STATISTICS = 1.1  # cells beside or below the table, for mean and deviation


def averaged_axis(
    values: np.ndarray,
    output: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    *,
    over: Literal["features", "batch"],
) -> alt.LayerChart:
    """`values` and `output` [batch, feature], cell by cell; each group of `mean` and `deviation` has a frame.

    Over the "features" a group is a row (layer normalisation), over the "batch" a column (batch normalisation);
    `mean` and `deviation` hold one number a group, in any shape.
    Raises ValueError where they do not.
    """
    by_row = over == "features"
    n_rows, n_columns = values.shape
    n_groups = n_rows if by_row else n_columns
    if output.shape != values.shape or mean.size != n_groups or deviation.size != n_groups:
        raise ValueError(
            f"{n_groups} groups of {values.shape} need as many means and deviations and an output of that "
            f"shape, got {mean.size}, {deviation.size} and {output.shape}"
        )
    cells = pd.DataFrame(
        {
            "x": column + 0.5,
            "y": row + 0.5,
            "vector": row,
            "feature": column,
            "input": float(values[row, column]),
            "output": float(output[row, column]),
            "before": short(values[row, column]),
            "after": short(output[row, column]),
            "group": str(row if by_row else column),
        }
        for row, column in np.ndindex(n_rows, n_columns)
    )
    groups = pd.DataFrame(
        {
            "group": str(number),
            "left": 0.04 if by_row else number + 0.04,
            "right": (n_columns if by_row else number + 1) - 0.04,
            "top": (number if by_row else 0) + 0.07,
            "bottom": (number + 1 if by_row else n_rows) - 0.07,
            "x": n_columns + 0.1 if by_row else number + 0.5,
            "y": number + 0.5 if by_row else n_rows + 0.4,
            "mean": float(mean.flat[number]),
            "deviation": float(deviation.flat[number]),
            "upper": f"μ {short(mean.flat[number])}",
            "lower": f"σ {short(deviation.flat[number])}",
        }
        for number in range(n_groups)
    )
    domain = [n_columns + _STATISTICS * by_row, n_rows + _STATISTICS * (not by_row)]
    x_scale = alt.Scale(domain=[0, domain[0]], nice=False)
    y_scale = alt.Scale(domain=[domain[1], 0], nice=False)
    colour = alt.Color(
        "group:N",
        scale=alt.Scale(
            domain=groups["group"].tolist(),
            range=[CATEGORIES[number % len(CATEGORIES)] for number in range(n_groups)],
        ),
        legend=None,
    )
    frames = (
        alt.Chart(groups)
        .mark_rect(cornerRadius=8, fillOpacity=0.13, strokeWidth=2.5)
        .encode(
            x=alt.X("left:Q", axis=None, scale=x_scale),
            x2=alt.X2("right:Q"),
            y=alt.Y("top:Q", axis=None, scale=y_scale),
            y2=alt.Y2("bottom:Q"),
            fill=colour,
            stroke=colour,
            tooltip=[
                alt.Tooltip("mean:Q", format=".4f"),
                alt.Tooltip("deviation:Q", format=".4f"),
            ],
        )
    )
    place = {"x": alt.X("x:Q", axis=None, scale=x_scale), "y": alt.Y("y:Q", axis=None, scale=y_scale)}
    tooltip = [
        alt.Tooltip("vector:Q"),
        alt.Tooltip("feature:Q"),
        alt.Tooltip("input:Q", format=".4f"),
        alt.Tooltip("output:Q", format=".4f", title="normalised"),
    ]
    inside = alt.Chart(cells).encode(**place, tooltip=tooltip)
    beside = alt.Chart(groups).encode(**place)
    align = "left" if by_row else "center"
    layers = [
        frames,
        inside.mark_text(fontSize=12, dy=-9, color=INK, opacity=0.75).encode(text=alt.Text("before:N")),
        inside.mark_text(fontSize=15, dy=9, fontWeight="bold", color=INK).encode(text=alt.Text("after:N")),
        beside.mark_text(fontSize=13, dy=-9, align=align, color=INK).encode(text=alt.Text("upper:N")),
        beside.mark_text(fontSize=13, dy=9, align=align, color=INK).encode(text=alt.Text("lower:N")),
    ]
    name = "Layer normalisation" if by_row else "Batch normalisation"
    what = (
        "each vector (row) by itself, over its features"
        if by_row
        else "each feature (column) by itself, over the batch"
    )
    return alt.layer(*layers).properties(
        height=_ROW * domain[1],
        autosize=FIT,
        title=heading(name, what),
        description=f"{name} of {n_rows} vectors of {n_columns} features: {what}.",
    )
