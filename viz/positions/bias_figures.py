"""Biases on scores by distance: a curve for each head, or a map over rows and columns for each head."""

import altair as alt
import numpy as np

from ..builders.curves import long_table
from ..builders.figure import VegaFigure, click_on, data, either, form, need_shape, tip
from ..builders.heatmap import colour_scale, heatmap
from ..builders.heatmap_figure import Heatmap
from ..builders.number_format import format_number
from ..builders.palette import ACCENT, EMPHASIS, largest
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, SMALL
from ..builders.vega_colours import SIGNED_ENDS, colour, colour_legend

_HEIGHT = 340  # pixels, as all lengths here
_PLOT, _LETTERS = 270, 13  # of the plot's height, and of a name's
_SIDE, _GAP, _NAME = 124, 10, 18
_ACROSS = 4  # small maps in a row


def bias_curves(offsets: np.ndarray, by_head: np.ndarray, *, head: int) -> VegaFigure:
    """A curve over `offsets` (key minus query) for each head, of its bias [head, offset]; that of the chosen `head` is green.

    A click on a curve sets the point selection `head`, field `head`. Raises ValueError where a head does not have one value
    for each offset.
    """
    n_heads = len(by_head)
    need_shape((n_heads, len(offsets)), by_head=by_head)
    order = sorted(range(n_heads), key=lambda number: number == head)  # the chosen one on top
    frame = long_table(
        {str(number): (offsets, by_head[number]) for number in order}, "head", "offset", "bias"
    )
    frame["head"] = frame["head"].astype(int)
    frame["chosen"] = frame["head"] == head
    ends = {
        "head": order,
        "offset": [int(offsets[-1])] * n_heads,
        "bias": _spread(by_head[:, -1], by_head)[order],
    }
    ends["chosen"] = [number == head for number in order]
    return _curves_form().with_data(
        frame,
        frames={"ends": ends},
        description=f"Bias on the scores over the offset of two positions, of {n_heads} heads; head {head} is chosen",
    )


def _spread(ends: np.ndarray, by_head: np.ndarray) -> np.ndarray:
    """Heights for the names of curves near their `ends`, far enough from each other that no name covers another one."""
    step = max(float(np.ptp(by_head)), 1e-9) * _LETTERS / _PLOT
    order = np.argsort(ends, kind="stable")
    spread = ends[order].astype(float)
    for index in range(1, len(spread)):
        spread[index] = max(spread[index], spread[index - 1] + step)
    spread -= (spread - ends[order]).mean()
    heights = np.empty_like(spread)
    heights[order] = spread
    return heights


@form
def _curves_form() -> alt.TopLevelMixin:
    x = alt.X(
        "offset:Q",
        title="offset: key − query (positions)",
        scale=alt.Scale(nice=False),
        axis=alt.Axis(format="d", tickMinStep=1),
    )
    y = alt.Y("bias:Q", title="bias on the score")
    lines = alt.Chart(data()).mark_line(interpolate="linear", cursor="pointer")
    lines = lines.encode(
        x=x,
        y=y,
        detail="head:N",
        color=either("datum.chosen", ACCENT, EMPHASIS),
        strokeWidth=either("datum.chosen", 3, 1.4),
        opacity=either("datum.chosen", 1, 0.75),
        tooltip=[tip("head:N"), tip("offset:Q"), tip("bias:Q", ".4f")],
    ).add_params(click_on("head", "head"))
    names = alt.Chart(data("ends")).transform_calculate(name="'H' + datum.head")
    names = names.mark_text(align="left", dx=5, fontSize=SMALL, color=INK, aria=False)
    names = names.encode(x=x, y=y, text="name:N", opacity=either("datum.chosen", 1, 0.75))
    return alt.layer(lines, names).properties(height=_HEIGHT)


def bias_maps(by_head: np.ndarray, *, head: int) -> VegaFigure:
    """A small map of the bias [head, row offset, column offset] for each head, in one colour scale; `head` is framed.

    The middle of a map is the query's own patch. A click on a map sets the point selection `head`, field `head`.
    """
    n_heads, n_rows, n_columns = by_head.shape
    cell = max(1.0, _SIDE / max(n_rows, n_columns))
    number, row, column = np.indices(by_head.shape).reshape(3, -1)
    frame = {
        "head": number,
        "row": row - n_rows // 2,
        "column": column - n_columns // 2,
        "bias": by_head.ravel().astype(float).round(5),
    }
    order = sorted(range(n_heads), key=lambda number: number == head)
    outlines = {"head": order, "chosen": [number == head for number in order]}
    return _maps_form().with_data(
        frame,
        frames={"maps": outlines},
        values={"largest": largest(by_head), "cell": cell, "rows": n_rows, "columns": n_columns},
        width=_ACROSS * (cell * n_columns + _GAP),
        height=-(-n_heads // _ACROSS) * (cell * n_rows + _GAP + _NAME),
        description=f"Bias on the scores by the rows and columns between two patches, of {n_heads} heads; head {head} is framed",
    )


@form
def _maps_form() -> alt.TopLevelMixin:
    left = f"(datum.head % {_ACROSS}) * (columns * cell + {_GAP})"
    top = f"floor(datum.head / {_ACROSS}) * (rows * cell + {_GAP + _NAME}) + {_NAME}"
    tiles = alt.Chart(data()).transform_calculate(
        left=f"{left} + (datum.column + floor(columns / 2)) * cell",
        top=f"{top} + (datum.row + floor(rows / 2)) * cell",
    )
    tiles = tiles.transform_calculate(right="datum.left + cell", bottom="datum.top + cell")
    box = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("top"), "y2": "bottom:Q"}
    legend = colour_legend("bias, symmetric about 0", SIGNED_ENDS, format=".2~f", offset=8, padding=0)
    tiles = tiles.mark_rect(cursor="pointer", aria=False).encode(
        **box,
        color=colour("bias", signed=True, legend=legend),
        tooltip=[
            tip("head:N"),
            tip("row:Q", "+d", "rows down"),
            tip("column:Q", "+d", "columns to the right"),
            tip("bias:Q", "+.4f"),
        ],
    )
    outlines = alt.Chart(data("maps")).transform_calculate(
        left=left,
        top=top,
        right=f"{left} + columns * cell",
        bottom=f"{top} + rows * cell",
        name="'H' + datum.head",
    )
    frames = outlines.mark_rect(fill=None).encode(
        **box,
        stroke=either("datum.chosen", ACCENT, "#787d87"),
        strokeWidth=either("datum.chosen", 3, 0.5),
        description="name:N",
    )
    names = outlines.mark_text(align="left", baseline="bottom", dy=-3, fontSize=SMALL, color=INK, aria=False)
    names = names.encode(x=pixel_x("left"), y=pixel_y("top"), text="name:N")
    layers = (tiles.add_params(click_on("head", "head")), frames, names)
    return alt.layer(*layers).properties(autosize="pad")  # Streamlit would squeeze what lies at pixels


def offset_map(
    values: np.ndarray, *, what: str, offset: tuple[int, int] | None = None, height: int = 520
) -> Heatmap:
    """A heatmap of a quantity `what` by the offset of two patches in rows and columns, the query's own patch in the middle.

    The cell of `offset`, (rows down, columns to the right), is framed.
    """
    n_rows, n_columns = values.shape
    framed = None
    if offset is not None:
        row, column = offset[0] + n_rows // 2, offset[1] + n_columns // 2
        framed = (range(column, column + 1), range(row, row + 1))
    return heatmap(
        values,
        x=[format_number(number - n_columns // 2, "d") for number in range(n_columns)],
        y=[format_number(number - n_rows // 2, "d") for number in range(n_rows)],
        titles=("columns to the right", "rows down"),
        colours=colour_scale(what, "symmetric about 0", largest(values)),
        cell="%{y} rows down, %{x} columns to the right",
        height=height,
        square=True,
        framed=framed,
        description=f"{what} by the rows and columns between two patches; the query's own patch is in the middle",
    )
