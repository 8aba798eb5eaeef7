"""Which numbers layer and batch normalisation average, and one vector with its mean and standard deviation."""

from typing import Literal

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, tip, value
from ..builders.number_format import format_short
from ..builders.palette import CATEGORIES, EMPHASIS
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
    """A table of `values` and `output` of a normalisation, both [batch, feature]; a frame surrounds the numbers that
    share one `mean` and one `deviation`.

    With `over` "features", these are the numbers of a row (layer normalisation), with "batch" those of a column
    (batch normalisation). `mean` and `deviation` have one number for each row or column, in any shape.
    """
    by_row = over == "features"
    n_rows, n_columns = values.shape
    n_groups = n_rows if by_row else n_columns
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


_HEIGHT = 130
_WRITTEN = 8  # so many components at most carry their value as text
_NAMED = 16  # and so many their own number


def norm_bars(values: np.ndarray, *, title: str, reading: str) -> VegaFigure:
    """Bars of `values` [feature], with a line at their mean and a band of one population standard deviation around
    it.

    `title` is the name of the figure, and `reading` says how to read it.
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
