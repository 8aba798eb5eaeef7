"""What layer normalisation and batch normalisation average over: a batch of vectors as a table with framed groups."""

from typing import Literal

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, need_shape, tip, value
from ..builders.number_format import format_short
from ..builders.palette import CATEGORIES
from ..builders.theme import INK, LARGE, MIDDLE, SMALL, heading_with_reading

_ROW = 54  # pixels
_STATISTICS = 1.1  # cells beside or below the table, for mean and deviation


def averaged_axis(
    values: np.ndarray,
    output: np.ndarray,
    mean: np.ndarray,
    deviation: np.ndarray,
    *,
    over: Literal["features", "batch"],
) -> VegaFigure:
    """A table of `values` and `output`, both [batch, feature]; a frame marks the numbers that share a `mean` and a
    `deviation`.

    Over the "features" a group is a row (layer normalisation), over the "batch" a column (batch normalisation). `mean`
    and `deviation` hold one number for each group, in any shape. Raises ValueError if they hold another number of
    values, or if `output` has not the shape of `values`.
    """
    by_row = over == "features"
    n_rows, n_columns = values.shape
    n_groups = n_rows if by_row else n_columns
    need_shape(values.shape, output=output)
    need_shape((n_groups,), mean=mean.ravel(), deviation=deviation.ravel())
    row, column = np.indices(values.shape).reshape(2, -1)
    columns = [
        Column("vector", row),
        Column("feature", column),
        Column("input", values, format=".4f"),
        Column("output", output, "normalised", ".4f"),
    ]
    group = np.arange(n_groups)
    left, right = (0, n_columns) if by_row else (group, group + 1)
    top, bottom = (group, group + 1) if by_row else (0, n_rows)
    groups = {
        "left": left + np.full(n_groups, 0.04),
        "right": right - np.full(n_groups, 0.04),
        "top": top + np.full(n_groups, 0.07),
        "bottom": bottom - np.full(n_groups, 0.07),
        "x": np.full(n_groups, n_columns + 0.1) if by_row else group + 0.5,
        "y": group + 0.5 if by_row else np.full(n_groups, n_rows + 0.4),
        "mean": mean.ravel().astype(float),
        "deviation": deviation.ravel().astype(float),
        "upper": [f"μ {format_short(value)}" for value in mean.flat],
        "lower": [f"σ {format_short(value)}" for value in deviation.flat],
        "colour": [CATEGORIES[group_number % len(CATEGORIES)] for group_number in group],
    }
    n_table_columns, n_table_rows = n_columns + _STATISTICS * by_row, n_rows + _STATISTICS * (not by_row)
    name = "Layer normalisation" if by_row else "Batch normalisation"
    by_feature = "each feature (column) by itself, over the batch"
    averaged_text = "each vector (row) by itself, over its features" if by_row else by_feature
    x: Kwargs = {"axis": None, "scale": alt.Scale(domain=[0, value("across")], nice=False)}
    y: Kwargs = {"axis": None, "scale": alt.Scale(domain=[value("down"), 0], nice=False)}
    frame = {
        "x": alt.X("left:Q", **x),
        "x2": "right:Q",
        "y": alt.Y("top:Q", **y),
        "y2": "bottom:Q",
        "fill": alt.Fill("colour:N", scale=None),
        "stroke": alt.Stroke("colour:N", scale=None),
        "tooltip": [tip("mean:Q", ".4f"), tip("deviation:Q", ".4f")],
    }
    centre = {"x": alt.X("x:Q", **x), "y": alt.Y("y:Q", **y)}
    inside = centre | {"tooltip": columns}
    align = "left" if by_row else "center"
    return chart(
        columns,
        layer("rect", frame, "groups", cornerRadius=8, fillOpacity=0.13, strokeWidth=2.5),
        layer("text", inside | {"text": "before:N"}, fontSize=SMALL, dy=-9, color=INK, opacity=0.75),
        layer("text", inside | {"text": "after:N"}, fontSize=LARGE, dy=9, fontWeight="bold", color=INK),
        *(
            layer(
                "text",
                centre | {"text": f"{text}:N"},
                "groups",
                fontSize=MIDDLE,
                dy=dy,
                align=align,
                color=INK,
            )
            for text, dy in (("upper", -9), ("lower", 9))
        ),
        drawing={
            "x": column + 0.5,
            "y": row + 0.5,
            "before": [format_short(number) for number in values.flat],
            "after": [format_short(number) for number in output.flat],
        },
        frames={"groups": groups},
        values={"across": n_table_columns, "down": n_table_rows},
        height=_ROW * n_table_rows,
        title=heading_with_reading(name, averaged_text),
        description=f"{name} of {n_rows} vectors of {n_columns} features: {averaged_text}.",
    )
