"""Scores over the offset of key and query: the position biases of each head as curves or maps, the parts of one
score, and other quantities that depend only on the offset.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.cells import frame_channels
from ..builders.chart import (
    CHOSEN,
    Column,
    chart,
    encodings_by_kind,
    layer,
    lines,
    long_columns,
    vertical_line,
)
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip
from ..builders.heatmap import colour_scale, heatmap
from ..builders.heatmap_figure import Heatmap
from ..builders.number_format import format_number
from ..builders.palette import ACCENT, CATEGORIES, EMPHASIS, MASKED, largest_absolute
from ..builders.picture_marks import PIXEL_BOX, pixel_x, pixel_y
from ..builders.theme import INK, SMALL
from ..builders.vega_colours import SIGNED_ENDS, colour, colour_legend

_HEIGHT = 340  # pixels, as all lengths here
_PLOT_HEIGHT, _NAME_TEXT_HEIGHT = 270, 13  # of the plot's height, and of a name's
_MAP_SIDE, _MAP_GAP, _MAP_NAME_HEIGHT = 124, 10, 18
_MAPS_PER_ROW = 4  # small maps in a row
_SCORES_HEIGHT = 300  # pixels
_CURVE_COLOURS = (*CATEGORIES[:3], *CATEGORIES[4:])  # without purple, which means “negative” in the maps


def _offset_axis(unit: str, field: str = "offset") -> alt.X:
    """The x channel of the offset of key and query in the column `field`, counted in `unit`."""
    axis = alt.Axis(format="d", tickMinStep=1)
    return alt.X(
        f"{field}:Q",
        title=f"← key before the query · offset ({unit}) · key after it →",
        scale=alt.Scale(nice=False),
        axis=axis,
    )


def bias_curves(offsets: np.ndarray, by_head: np.ndarray, *, head: int) -> VegaFigure:
    """For each head a curve of its position bias `by_head` [head, offset] over `offsets` (key minus query); the curve
    of the chosen `head` is green.

    A click on a curve sets the point selection `head`, field `head`.
    """
    n_heads = len(by_head)
    order = np.array(sorted(range(n_heads), key=lambda number: number == head))  # the chosen one on top
    columns = [
        Column("head", np.repeat(order, len(offsets)), None),
        Column("offset", np.tile(offsets, n_heads)),
        Column("bias", by_head[order], format=".4f"),
        Column("chosen", np.repeat(order == head, len(offsets)), None),
    ]
    position = {
        "x": _offset_axis("positions"),
        "y": alt.Y("bias:Q", title="bias on the score"),
        "opacity": conditional_value("datum.chosen", 1, 0.75),
    }
    curve = position | {
        "detail": "head:N",
        "color": conditional_value("datum.chosen", ACCENT, EMPHASIS),
        "strokeWidth": conditional_value("datum.chosen", 3, 1.4),
        "tooltip": [tip("head:N"), *columns],
    }
    text: Kwargs = {"align": "left", "dx": 5, "fontSize": SMALL, "color": INK, "aria": False}
    return chart(
        columns,
        layer("line", curve, interpolate="linear", cursor="pointer", click=("head", "head")),
        layer("text", position | {"text": "name:N"}, "ends", calculate={"name": "'H' + datum.head"}, **text),
        frames={
            "ends": {
                "head": order,
                "offset": [int(offsets[-1])] * n_heads,
                "bias": _label_heights(by_head[:, -1], by_head)[order],
                "chosen": order == head,
            }
        },
        height=_HEIGHT,
        autosize=None,
        description=f"Bias on the scores over the offset of two positions, of {n_heads} heads; head {head} is chosen",
    )


def _label_heights(ends: np.ndarray, by_head: np.ndarray) -> np.ndarray:
    """The y values [head] of the curves' names: near the curves' `ends` [head], but so far from each other that no
    name covers another one.

    `by_head` [head, offset] gives the range of the y axis.
    """
    step = max(float(np.ptp(by_head)), 1e-9) * _NAME_TEXT_HEIGHT / _PLOT_HEIGHT
    order = np.argsort(ends, kind="stable")
    spread = ends[order].astype(float)
    for index in range(1, len(spread)):
        spread[index] = max(spread[index], spread[index - 1] + step)
    spread -= (spread - ends[order]).mean()
    heights = np.empty_like(spread)
    heights[order] = spread
    return heights


def bias_maps(by_head: np.ndarray, *, head: int) -> VegaFigure:
    """For each head a small map of its position bias `by_head` [head, row offset, column offset], all in one colour
    scale; the map of `head` is framed.

    The centre of a map is offset 0, the query's own patch. A click on a map sets the point selection `head`, field
    `head`.
    """
    n_heads, n_rows, n_columns = by_head.shape
    cell = max(1.0, _MAP_SIDE / max(n_rows, n_columns))
    number, row, column = np.indices(by_head.shape).reshape(3, -1)
    order = np.array(sorted(range(n_heads), key=lambda number: number == head))
    left = f"(datum.head % {_MAPS_PER_ROW}) * (columns * cell + {_MAP_GAP})"
    top = f"floor(datum.head / {_MAPS_PER_ROW}) * (rows * cell + {_MAP_GAP + _MAP_NAME_HEIGHT}) + {_MAP_NAME_HEIGHT}"
    tile = {
        "left": f"{left} + (datum.column + floor(columns / 2)) * cell",
        "top": f"{top} + (datum.row + floor(rows / 2)) * cell",
        "right": "datum.left + cell",
        "bottom": "datum.top + cell",
    }
    outline = {
        "left": left,
        "top": top,
        "right": f"{left} + columns * cell",
        "bottom": f"{top} + rows * cell",
        "name": "'H' + datum.head",
    }
    columns = [
        Column("head", number, None),
        Column("row", row - n_rows // 2, "rows down", "+d"),
        Column("column", column - n_columns // 2, "columns to the right", "+d"),
        Column("bias", by_head.astype(float).round(5), format="+.4f"),
    ]
    legend = colour_legend("bias, symmetric about 0", SIGNED_ENDS, format=".2~f", offset=8, padding=0)
    colours = {
        "color": colour("bias", signed=True, legend=legend),
        "tooltip": [tip("head:N"), *columns],
    }
    frame = frame_channels((3, 0.5)) | {"description": "name:N"}
    text: Kwargs = {
        "align": "left",
        "baseline": "bottom",
        "dy": -3,
        "fontSize": SMALL,
        "color": INK,
        "aria": False,
    }
    name = {"x": pixel_x("left"), "y": pixel_y("top"), "text": "name:N"}
    click = ("head", "head")
    return chart(
        columns,
        layer("rect", PIXEL_BOX | colours, calculate=tile, cursor="pointer", aria=False, click=click),
        layer("rect", PIXEL_BOX | frame, "maps", calculate=outline, fill=None),
        layer("text", name, "maps", calculate=outline, **text),
        frames={"maps": {"head": order, "selected": order == head}},
        values={"largest": largest_absolute(by_head), "cell": cell, "rows": n_rows, "columns": n_columns},
        width=_MAPS_PER_ROW * (cell * n_columns + _MAP_GAP),
        height=-(-n_heads // _MAPS_PER_ROW) * (cell * n_rows + _MAP_GAP + _MAP_NAME_HEIGHT),
        autosize="pad",  # Streamlit would squeeze what lies at pixels
        description=f"Bias on the scores by the rows and columns between two patches, of {n_heads} heads; head {head} is framed",
    )


def offset_map(values: np.ndarray, *, what: str, offset: tuple[int, int] | None = None) -> Heatmap:
    """A heatmap of `values` [row offset, column offset], a quantity between two patches that `what` names; the centre
    is offset 0, the query's own patch.

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
        colours=colour_scale(what, "symmetric about 0", largest_absolute(values)),
        cell="%{y} rows down, %{x} columns to the right",
        height=520,
        square=True,
        framed=framed,
        description=f"{what} by the rows and columns between two patches; the query's own patch is in the middle",
    )


def score_curves(
    offsets: np.ndarray,
    parts: Mapping[str, np.ndarray],
    total: np.ndarray,
    *,
    own_offset: int,
    window: tuple[int, int] | None = None,
) -> VegaFigure:
    """Curves over `offsets` (key minus query) of the `parts` of a score, values [offset] by name, and in black or
    white of their sum, `total` [offset].

    A green line marks `own_offset`, that of the chosen query and key. Offsets outside of `window` (first, last),
    which a mask forbids, are grey.
    """
    first, last = int(offsets.min()), int(offsets.max())
    lowest, highest = (first, last) if window is None else window
    bands = [(first, lowest), (highest, last)]
    columns = long_columns(
        {name: (offsets, values) for name, values in parts.items()},
        Column("part", ()),
        Column("offset", ()),
        Column("amount", (), "adds", "+.4f"),
    )
    x = _offset_axis("positions")
    y = alt.Y("amount:Q", title="score")
    by_part = encodings_by_kind(
        "part:N", tuple(parts), color=_CURVE_COLOURS[: len(parts)], legend={"columns": 4}
    )
    tooltip = [tip("offset:Q"), tip("amount:Q", ".4f", "score, the sum")]
    return chart(
        columns,
        layer(
            "rect",
            {"x": _offset_axis("positions", "from"), "x2": "to:Q"},
            "masked",
            color=MASKED,
            opacity=0.2,
            aria=False,
        ),
        *lines({"x": x, "y": y, **by_part}, columns, {"strokeWidth": 1.4}),
        layer("line", {"x": x, "y": y, "tooltip": tooltip}, "total", strokeWidth=2.8, color=INK),
        vertical_line("offset", strokeWidth=2),
        frames={
            "total": {"offset": offsets, "amount": total},
            "masked": [{"from": start, "to": end} for start, end in bands if start < end],
            CHOSEN: {"offset": [own_offset]},
        },
        height=_SCORES_HEIGHT,
        autosize=None,
        description=f"Score over the offset of two positions, as a sum of {', '.join(parts)}; their own offset, {own_offset}, is "
        "marked",
    )


def distance_curves(
    offsets: np.ndarray, by_name: Mapping[str, np.ndarray], *, what: str, unit: str = "positions"
) -> VegaFigure:
    """For each name a curve of its values [offset] over `offsets` (key minus query, counted in `unit`); `what` is the
    title of the y axis.
    """
    columns = long_columns(
        {name: (offsets, values) for name, values in by_name.items()},
        Column("curve", ()),
        Column("offset", ()),
        Column("amount", (), what, ".4~g"),
    )
    y = alt.Y("amount:Q", title=what)
    names, colours = tuple(by_name), _CURVE_COLOURS[: len(by_name)]
    by_curve = encodings_by_kind("curve:N", names, color=colours, legend={"columns": 4})
    return chart(
        columns,
        *lines({"x": _offset_axis(unit), "y": y, **by_curve}, columns, {"strokeWidth": 1.8}),
        height=320,
        autosize=None,
        description=f"{what} over the offset of two positions, of {', '.join(by_name)}",
    )


def short_length(wavelength: float) -> str:
    """A wavelength as text with three digits, or in whole positions if these have more."""
    return format_number(wavelength, ",.0f" if wavelength >= 100 else ".3g")


def pair_map(
    by_pair: np.ndarray, offsets: Sequence[int], wavelengths: np.ndarray, *, own_offset: int
) -> Heatmap:
    """A heatmap of what each rotated pair of dimensions adds to a score, `by_pair` [pair, offset], over `offsets`
    (key minus query); the pair with the shortest of the `wavelengths` [pair] is on top, and the column of
    `own_offset` is framed.
    """
    n_pairs = len(wavelengths)
    names = [f"{pair}: λ {short_length(wavelengths[pair])}" for pair in range(n_pairs)]
    own = list(offsets).index(own_offset)
    return heatmap(
        by_pair,
        x=[format_number(offset, "d") for offset in offsets],
        y=names,
        titles=("offset: key − query", "pair and its wavelength"),
        colours=colour_scale("adds to the score", "symmetric about 0", largest_absolute(by_pair)),
        cell="pair %{y}<br>offset %{x}",
        number="<br>adds %{z:.4f}",
        height=_SCORES_HEIGHT + 90,
        framed=(range(own, own + 1), range(n_pairs)),
        description=f"What each of {n_pairs} pairs of numbers adds to the score at {len(offsets)} offsets: narrow stripes on top, "
        "wide ones below",
    )
