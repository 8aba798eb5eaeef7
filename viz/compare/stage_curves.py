"""Curves and heatmaps over the stages of the residual stream: one number at each stage, the logits of each class,
similarities between the stages of two encoders, and vector norms.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column, chart, encodings_by_kind, layer, lines, long_columns, stage_axis
from ..builders.figure import Kwargs, VegaFigure, tip, value
from ..builders.heatmap import colour_scale, heatmap, position_labels
from ..builders.heatmap_figure import Heatmap
from ..builders.number_format import format_number, stage_names
from ..builders.palette import CATEGORIES, NEUTRAL, SHAPES
from ..builders.theme import MIDDLE, SMALL, heading
from ..builders.vega_colours import ENDS, SIGNED_ENDS, colour_legend

Band = tuple[np.ndarray, np.ndarray]  # means and standard deviations [stage]
_GAP, _LETTER = 8, 8  # pixels: from a curve to its name, and for each letter of that
_SMALLEST, _LARGEST = 12, 46
_WRITTEN, _WIDE = 26, 36  # pixels that a cell needs for its number, and for one in larger letters


def stage_curves(
    sides: Mapping[str, np.ndarray],
    stages: Sequence[str],
    *,
    y_title: str,
    x_title: str = "stage of the stream",
    from_zero_to: float | None = None,
    colours: tuple[str, ...] = CATEGORIES,
    bands: Mapping[str, Band] | None = None,
    height: int = 240,
) -> VegaFigure:
    """A curve of values [stage] for each of two `sides`, by name; a side with fewer layers ends earlier, and NaN is
    left out.

    `bands` maps the names of some sides to means and standard deviations [stage] over a data set: the mean is dashed,
    and one standard deviation above and below it is shaded. The y axis goes from 0 to `from_zero_to`; without it, to
    the largest value. `y_title` and `x_title` are the titles of the axes, `colours` those of the sides, in order. The
    plot is `height` pixels high.
    """
    bands, stages = dict(bands or {}), stage_names(stages)
    defined = {name: np.flatnonzero(~np.isnan(values)).tolist() for name, values in sides.items()}
    series = {
        name: ([stages[index] for index in defined[name]], sides[name][defined[name]].tolist())
        for name in sides
    }
    columns = long_columns(
        series, Column("side", ()), Column("stage", ()), Column("value", (), y_title, ".4f", y_title)
    )
    rows = [
        (name, stage, float(mean), float(sd), float(mean - sd), float(mean + sd))
        for name, band in bands.items()
        for stage, mean, sd in zip(stages, *band, strict=False)
        if not np.isnan(mean)
    ]
    band = pd.DataFrame(rows, columns=["side", "stage", "mean", "sd", "low", "high"])
    top = from_zero_to or max([*columns[-1].values, *band["high"]], default=1.0) or 1.0
    x, y_scale = stage_axis(stages, x_title), alt.Scale(domain=[0, value("top")])
    opaque = {"symbolOpacity": 1}  # or the legend would be as faint as a band
    side_channels = encodings_by_kind("side:N", tuple(sides), legend=opaque, color=colours, shape=SHAPES)
    side = {"x": x, "color": side_channels["color"]}
    shaded = {"y": alt.Y("low:Q", title=y_title, scale=y_scale), "y2": "high:Q"}
    dashed = {
        "y": alt.Y("mean:Q", title=y_title, scale=y_scale),
        "tooltip": [
            "side:N",
            "stage:N",
            tip("mean:Q", ".4f", f"mean {y_title}"),
            tip("sd:Q", ".4f", "standard deviation"),
        ],
    }
    dashes: Kwargs = {"strokeDash": [5, 4], "strokeWidth": 1.3, "opacity": 0.8}
    return chart(
        columns,
        layer("area", side | shaded, "band", opacity=0.16, clip=True) if bands else None,
        layer("line", side | dashed, "band", clip=True, **dashes) if bands else None,
        *lines(
            {"x": x, "y": alt.Y("value:Q", title=y_title, scale=y_scale), **side_channels},
            columns,
            {"strokeWidth": 2.5},
            {"size": 70},
        ),
        frames={"band": band} if bands else {},
        values={"top": top},
        height=height,
        description=f"{y_title}, over {len(stages)} stages, of {' and '.join(sides)}",
    )


def logit_curves(
    logits: np.ndarray,
    stages: Sequence[str],
    class_names: Sequence[str],
    *,
    marked: Mapping[str, str],
    title: str,
    domain: tuple[float, float],
) -> VegaFigure:
    """Curves of `logits` [stage, class]: `marked` maps the names of some classes to the colours of their curves,
    which are labelled; all others are grey.

    The y axis spans `domain`; `title` stands above the figure.
    """
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    stages, n_stages = stage_names(stages), len(stages)
    columns = [
        Column("class", list(class_names) * n_stages),
        Column("stage", [stage for stage in stages for _ in class_names]),
        Column("logit", logits, format=".4f"),
        Column("probability", weights / weights.sum(axis=-1, keepdims=True), format=".4f"),
    ]
    x_scale = alt.Scale(range=[0, alt.expr("max(width - beyond, 1)")])
    y_scale = alt.Scale(domain=[value("lowest"), value("highest")], padding=10)
    base = {
        "x": stage_axis(stages, "read off at", scale=x_scale),
        "y": alt.Y("logit:Q", title="logit", scale=y_scale),
        "color": alt.Color("colour:N", scale=None),
        "detail": "class:N",
        "tooltip": columns,
    }
    text: Kwargs = {"align": "left", "dx": _GAP, "fontSize": MIDDLE, "fontWeight": "bold"}
    return chart(
        columns,
        layer("line", base, where="!datum.marked", strokeWidth=1.2, opacity=0.6, point={"size": 20}),
        layer("line", base, where="datum.marked", strokeWidth=3, point={"size": 55}),
        layer("text", base | {"text": "class:N"}, where="datum.marked && datum.last", **text),
        drawing={
            "colour": [marked.get(name, NEUTRAL) for name in class_names] * n_stages,
            "marked": [name in marked for name in class_names] * n_stages,
            "last": np.repeat(np.arange(n_stages) == n_stages - 1, len(class_names)),
        },
        values={
            "beyond": _GAP + _LETTER * max(map(len, marked), default=0),  # pixels for the names of classes
            "lowest": domain[0],
            "highest": domain[1],
        },
        height=240,
        title=heading(title),
        description=f"{title}: logits of {len(class_names)} classes at {n_stages} stages",
    )


def stage_similarity(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    names: tuple[str, str],
    what: str,
    signed: bool,
    side: int,
    undefined: str = "not defined",
    title: str = "",
) -> VegaFigure:
    """A grid of similarities [row, column], coloured from 0 (-1 if `signed`) to 1; `rows` and `columns` are the
    stages of two encoders, and `names` the titles of these two axes.

    `what` names the similarity. The longer side is about `side` pixels. NaN is drawn as a dash, and the tooltip gives
    the reason, `undefined`.
    """
    rows, columns = stage_names(rows), stage_names(columns)
    pairs = [(row, column) for row in rows for column in columns]
    step = int(np.clip(side // max(*values.shape, 1), _SMALLEST, _LARGEST))
    axis = BARE_AXIS | {"labelOverlap": "greedy", "labelFlush": False, "labelLimit": 0}
    x_axis = alt.Axis(orient="top", labelAngle=-90, **axis)
    row_title, column_title = names
    legend_title = f"{what}, {'−1' if signed else '0'} to 1"
    return grid(
        [
            Column("row", [row for row, _ in pairs], row_title),
            # two columns of one name would be one line of the tooltip
            Column(
                "column",
                [column for _, column in pairs],
                column_title if column_title != row_title else f"{column_title}, other stage",
            ),
            Column("value", values, None, in_file=what),
            Column(
                "exact",
                [format_number(number, ".4f", otherwise=undefined) for number in values.flat],
                what,
                in_file=None,
            ),
        ],
        alt.X("column:N", scale=alt.Scale(domain=value("columns")), title=column_title, axis=x_axis),
        alt.Y("row:N", scale=alt.Scale(domain=value("rows")), title=row_title, axis=alt.Axis(**axis)),
        largest=1,
        signed=signed,
        written=None if step < _WRITTEN else [format_number(number, ".2f") for number in values.flat],
        font_size=SMALL if step < _WIDE else MIDDLE,
        legend=colour_legend(legend_title, SIGNED_ENDS if signed else ENDS, format="~g"),
        mark={"stroke": NEUTRAL, "strokeWidth": 0.3, "invalid": None},
        drawing={"name": [f"{row} and {column}" for row, column in pairs]},
        values={"rows": list(rows), "columns": list(columns)},
        width=step * len(columns),
        height=step * len(rows),
        title=heading(title),
        description=f"{what} of {len(rows)} stages of {row_title} and {len(columns)} of {column_title}",
    )


_STEP = 26  # pixels a stage


def norm_heatmap(
    norms: np.ndarray,
    stages: Sequence[str],
    tokens: Sequence[str],
    *,
    limit: float,
    unit: str = "token",
    title: str = "",
) -> Heatmap:
    """A heatmap of vector norms [stage, position], coloured from 0 to `limit`, which should be the same for figures
    that are compared.

    `unit` says what a position holds, such as "patch".
    """
    return heatmap(
        norms,
        x=position_labels(tokens),
        y=stage_names(stages),
        titles=(unit, "stage of the stream"),
        colours=colour_scale("length of the state", "0 to the longest of both sides", limit, signed=False),
        cell="%{y}, '%{x}'",
        number=": %{z:.3f}",
        height=230 + _STEP * len(stages),
        tokens="x",
        title=title,
        description=f"Length of the states of {title}, a row a stage",
    )
