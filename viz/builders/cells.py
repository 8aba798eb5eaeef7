"""Grids of coloured cells with a number in each, such as one cell for each head with a row for each layer."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from .chart import Channels, Column, Layer, as_vega_lite, chart, layer
from .figure import Columns, Kwargs, VegaFigure, conditional_value
from .number_format import cell_numbers, format_number, head_name
from .palette import ACCENT, NEUTRAL, ROUNDING, largest_absolute
from .theme import CASING, INK, LIGHT_INK, MIDDLE, ON_DARK, OTHER_INK, SMALL, heading
from .vega_colours import SIGNED_ENDS, colour, colour_legend, number_at_end

# Of the scale: from there on the colours are too far from the page for its ink, and those of a signed scale too dark.
STRONG, SIGNED_STRONG = 0.5, 0.8
# Black and white: in the middle of the scale no softer ink has a contrast of 4.5.
FULL_INK = f"{ON_DARK} ? 'white' : 'black'"
OTHER_FULL_INK = f"{ON_DARK} ? 'black' : 'white'"
INK_ON_CELLS = alt.expr(f"datum.strong ? ({OTHER_FULL_INK}) : ({FULL_INK})")
INK_ON_SIGNED = alt.expr(f"datum.strong ? '{LIGHT_INK}' : {INK.expr}")

BARE_AXIS: Kwargs = {"ticks": False, "domain": False, "grid": False}  # the cells are line enough
_NARROW, _LEAST, _MOST = 230, 40, 64
_LOW = 34
_WIDTH = 640  # pixels for all heads together, while a cell stays between the narrowest and the widest
_NARROWEST, _WIDEST, _HEIGHT = 40, 80, 40


def is_strong(values: np.ndarray, largest: float, *, signed: bool) -> np.ndarray:
    """Whether the colour of each value is so far from the page's colour that text on it needs the opposite ink: bool,
    in the shape of `values`.

    `largest` is the value at the end of the colour scale, which is symmetric about 0 if `signed`.
    """
    return np.abs(np.nan_to_num(np.asarray(values, float))) > (SIGNED_STRONG if signed else STRONG) * largest


def grid(
    columns: Sequence[Column],
    x: alt.X,
    y: alt.Y,
    *,
    largest: float,
    signed: bool,
    colour_of: str = "value",
    written: Any = None,
    font_size: int = MIDDLE,
    legend: alt.Legend | None = None,
    click: tuple[str, ...] = (),
    selected: Any = None,
    borders: tuple[float, float] = (3, 0.4),
    between: Sequence[Layer] = (),
    above: Sequence[Layer] = (),
    ink: Any = None,
    drawing: Columns | None = None,
    values: Mapping[str, Any] | None = None,
    mark: Mapping[str, Any] | None = None,
    **properties: Any,
) -> VegaFigure:
    """A grid of cells at the channels `x` and `y`, coloured by the column `colour_of` up to `largest`; `signed`
    colours are symmetric about 0.

    `written` are the texts in the cells, one for each cell or a channel, `font_size` pixels high; their ink is `ink`,
    by default the one that contrasts with the cell's colour. `legend` is the colour bar. Screen readers read the
    column `name`, and the tooltip has all `columns` with a title. A click on a cell sets the point selection
    `click[0]` to the fields `click[1:]`; cells whose entry in `selected` is true are framed. `borders` are the line
    widths of framed and of other cells. The layers `between` are drawn between colours and texts, the layers `above`
    on top of all. `mark` are options of the cells' mark, `drawing`, `values` and `properties` those of `chart`.
    """
    cell = as_vega_lite({"x": x, "y": y})  # once for all layers
    own = dict(drawing or {})
    texts = None
    if written is not None:
        if not isinstance(written, alt.Text):
            own["written"], written = written, "written:N"
        numbers = {column.name: column.values for column in columns} | own
        own["strong"] = is_strong(np.ravel(numbers[colour_of]), largest, signed=signed)
        inks = INK_ON_SIGNED if signed else INK_ON_CELLS
        texts = layer("text", cell | {"text": written}, aria=False, fontSize=font_size, color=ink or inks)
    cover = cell | {"description": "name:N", "tooltip": columns}
    if click:
        own["selected"] = selected
        cover |= frame_channels(borders)
    return chart(
        columns,
        layer(
            "rect",
            cell | {"color": colour(colour_of, signed=signed, legend=legend)},
            aria=False,
            **(mark or {}),
        ),
        *between,
        texts,
        casing_layer(cell, borders[0]) if click else None,
        layer("rect", cover, click=click, fill="transparent", cursor="pointer" if click else "default"),
        *above,
        drawing=own,
        values={"largest": largest} | dict(values or {}),
        **{"autosize": "pad", "last": selected} | properties,
    )


def frame_channels(borders: tuple[float, float] = (3, 0.4)) -> dict[str, Any]:
    """Channels of cell borders: wide and green where the column `selected` is true; `borders` are the line widths of
    selected and of other cells.
    """
    return {
        "stroke": conditional_value("datum.selected", ACCENT, NEUTRAL),
        "strokeWidth": conditional_value("datum.selected", *borders),
    }


def casing_layer(channels: Channels, width: float, /, **mark: Any) -> Layer:
    """A line in the colour of the page under a green frame that is `width` pixels wide, for rows whose column
    `selected` is true.

    It is wider than the frame and so shows on both sides of it: the frame's green is too close to the colours of
    middle weights.
    """
    opacity: Kwargs = {"strokeOpacity": conditional_value("datum.selected", 1, 0)}
    return _outline({**channels, **opacity}, OTHER_INK, width + CASING, **mark)


def frame_layers(channels: Channels, frame: str, width: float = 2.5) -> list[Layer]:
    """Two layers that frame every row of the data frame `frame`: a line in the colour of the page, and on it the
    green line, `width` pixels wide.
    """
    return [
        _outline(channels, OTHER_INK, width + CASING, frame=frame),
        _outline(channels, ACCENT, width, frame=frame),
    ]


def _outline(channels: Channels, stroke: Any, line: float, /, **mark: Any) -> Layer:
    """Unfilled rectangles with a border of the colour `stroke`, `line` pixels wide."""
    style: Kwargs = {"fill": None, "stroke": stroke, "strokeWidth": line, "aria": False, "tooltip": None}
    return layer("rect", channels, **style, **mark)


def head_axis(letter: str, **options: Any) -> alt.Axis:
    """The axis of layers or heads: `letter` before each number, as in L0 or H3."""
    # Not flush, or the first and the last would stand beside the middle of their cells.
    label = f"'{letter}' + datum.label"
    return alt.Axis(labelExpr=label, labelAngle=0, labelFlush=False, **BARE_AXIS, **options)


def part_channel(names: Sequence[str]) -> alt.X:
    """The x channel of the column `part`, with the part `names` above the cells, in this order."""
    axis = alt.Axis(orient="top", labelAngle=0, labelFlush=False, **BARE_AXIS)
    return alt.X("part:N", sort=list(names), title=None, axis=axis)


def layer_channel(title: str | None = None) -> alt.Y:
    """The y channel of the column `layer`, with L before each number."""
    return alt.Y("layer:O", title=title, axis=head_axis("L", orient="left"))


def head_grid(
    values: np.ndarray,
    *,
    selected: tuple[int, int],
    title: list[str],
    signed: bool,
    notes: list[str] | None = None,
    digits: int = 2,
) -> VegaFigure:
    """A grid of values [layer, head], NaN for a head without a value; the `selected` (layer, head) is framed.

    `title` are lines above the grid, of which the first names the values; `digits` are those of `cell_numbers`.
    `signed` values are coloured symmetrically about 0, others from 0 to the largest. `notes`, one for each head in the
    order of layers, are shown in the tooltip. A click sets the point selection `head`, fields `layer` and `head`.
    """
    max_value = largest_absolute(values[np.isfinite(values)], at_least=ROUNDING)
    numbers = cell_numbers(values, max_value, signed=signed, digits=digits)
    cell_side = int(np.clip(_NARROW // max(values.shape[1], 1), _LEAST, _MOST))
    return _head_cells(
        [
            Column("value", values, None, in_file=title[0]),
            Column("exact", numbers.exact, title[0], in_file=None),
            *([] if notes is None else [Column("note", notes, "pair", in_file="pair")]),
        ],
        selected=selected,
        largest=max_value,
        signed=signed,
        written=numbers.written,
        width=cell_side * values.shape[1],
        height=_LOW * values.shape[0],
        title=heading(*title, *filter(None, [numbers.unit])),
        description=f"{title[0]} of {values.shape[0]} layers of {values.shape[1]} heads",
    )


def entropy_change(before: np.ndarray, after: np.ndarray, *, selected: tuple[int, int]) -> VegaFigure:
    """A grid of `after` minus `before`, two entropies [layer, head]: negative cells are purple, positive ones gold.

    The `selected` head is framed. A click on a cell sets the point selection `head`, fields `layer` and `head`.
    """
    n_layers, n_heads = before.shape
    return _head_cells(
        [
            Column("before", before, format=".4f"),
            Column("after", after, format=".4f"),
            Column("value", after - before, "change", "+.4f", "change"),
        ],
        selected=selected,
        titles=("layer", "head"),
        largest=largest_absolute(after - before, at_least=ROUNDING),
        signed=True,
        written=[format_number(change, "+.3f") for change in (after - before).flat],
        font_size=SMALL,
        legend=colour_legend(
            "change of the entropy H / ln n (no unit)", SIGNED_ENDS, labelExpr=number_at_end("+")
        ),
        width=int(np.clip(_WIDTH // n_heads, _NARROWEST, _WIDEST)) * n_heads,
        height=_HEIGHT * n_layers,
        description=f"Change of the entropy of {n_layers} layers of {n_heads} heads; "
        f"{head_name(*selected)} is chosen.",
    )


def formation_map(steps: np.ndarray, *, among: np.ndarray, title: str = "") -> VegaFigure:
    """A grid of the training `steps` [layer, head] at which heads formed, coloured by their rank among the steps in
    `among` (any shape), which holds those of all encoders that are compared.

    Most heads form late in a run, so colours by the step itself would be nearly the same for all.
    """
    ordered = np.sort(among, axis=None)
    # Heads of one step share their mean rank.
    ranks = (
        np.searchsorted(ordered, steps, side="left") + np.searchsorted(ordered, steps, side="right") - 1
    ) / 2
    return _head_cells(
        [Column("step", steps.astype(float), "formed at step", ",")],
        drawing={"late": ranks / max(ordered.size - 1, 1)},
        colour_of="late",
        largest=1,
        signed=False,
        legend=colour_legend(
            "order in which the heads formed", [0, 1], labelExpr="datum.value < 0.5 ? 'first' : 'last'"
        ),
        written=alt.Text("step:Q", format=".2~s"),
        font_size=MIDDLE,
        mark={"stroke": NEUTRAL, "strokeWidth": 0.5},
        width={"step": 62},
        height={"step": 34},
        title=heading(title),
        description="The training step at which each head took its form.",
    )


def _head_cells(
    columns: Sequence[Column],
    *,
    selected: tuple[int, int] | None = None,
    titles: tuple[str | None, str | None] = (None, None),
    **options: Any,
) -> VegaFigure:
    """A grid with a cell for each head, which is `grid` with a row for each layer and the columns layer, head and
    name before `columns`.

    `titles` are those of the y and the x axis. The `selected` (layer, head) is framed, and a click on a cell sets the
    point selection `head`.
    """
    heads = list(np.ndindex(columns[0].values.shape))
    layers, numbers = np.indices(columns[0].values.shape).reshape(2, -1)
    names = [head_name(layer, head) for layer, head in heads]
    first = [Column("layer", layers, None), Column("head", numbers, None), Column("name", names, "head")]
    if selected is not None:
        options |= {"click": ("head", "layer", "head"), "selected": [head == selected for head in heads]}
    return grid(
        [*first, *columns],
        alt.X("head:O", title=titles[1], axis=head_axis("H", orient="top")),
        layer_channel(titles[0]),
        **options,
    )
