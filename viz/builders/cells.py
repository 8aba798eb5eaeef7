"""Grids of coloured cells with a number in each."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from .figure import Kwargs, LayeredChart, data, either
from .number_format import head_name
from .palette import ACCENT, NEUTRAL
from .theme import CASING, INK, LIGHT_INK, MIDDLE, ON_DARK, OTHER_INK
from .vega_colours import colour

# Of the scale: from there on the colours are too far from the page for its ink, and those of a signed scale too dark.
STRONG, SIGNED_STRONG = 0.5, 0.8
# Black and white: in the middle of the scale no softer ink has a contrast of 4.5.
FULL_INK = f"{ON_DARK} ? 'white' : 'black'"
OTHER_FULL_INK = f"{ON_DARK} ? 'black' : 'white'"
INK_ON_CELLS = alt.expr(f"datum.strong ? ({OTHER_FULL_INK}) : ({FULL_INK})")
INK_ON_SIGNED = alt.expr(f"datum.strong ? '{LIGHT_INK}' : {INK.expr}")

BARE_AXIS: Kwargs = {"ticks": False, "domain": False, "grid": False}  # the cells are line enough


def head_cells(
    values: np.ndarray, selected: tuple[int, int] | None = None, *, called: str = "value"
) -> pd.DataFrame:
    """A data frame with a row for each head of `values` [layer, head]: layer, head, name, and the value in a column
    named `called`.

    The row of the `selected` (layer, head) is marked and comes last, so that no neighbour's border covers its frame.
    The index counts the heads layer by layer.
    """
    heads = list(np.ndindex(values.shape))
    order = sorted(range(len(heads)), key=lambda row: heads[row] == selected)
    heads = [heads[row] for row in order]
    return pd.DataFrame(
        {
            "layer": np.array([layer for layer, _ in heads], int),
            "head": np.array([head for _, head in heads], int),
            called: np.array([values[index] for index in heads], float),
            "name": [head_name(layer, head) for layer, head in heads],
            "selected": [index == selected for index in heads],
        },
        index=order,
    )


def strong(values: np.ndarray, largest: float, *, signed: bool) -> np.ndarray:
    """Whether each value's colour is so dark that text on it must be light: bools in the shape of `values`."""
    return np.abs(np.nan_to_num(np.asarray(values, float))) > (SIGNED_STRONG if signed else STRONG) * largest


def cells(
    x: alt.X,
    y: alt.Y,
    *,
    tooltip: list[alt.Tooltip],
    signed: bool,
    field: str = "value",
    text: str | alt.Text | None = "written",
    font_size: int = MIDDLE,
    legend: alt.Legend | None = None,
    selectable: alt.Parameter | None = None,
    borders: tuple[float, float] = (3, 0.4),
    between: Sequence[alt.Chart] = (),
    writing: Mapping[str, Any] | None = None,
    **mark: Any,
) -> LayeredChart:
    """Chart layers with coloured cells at `x` and `y`, and the column `text` written in them.

    Cells have the channel `colour(field, signed, legend)`. Where the column `strong` is true, text is drawn in the
    opposite ink; screen readers read the column `name`. With `selectable`, a click selects a cell. The cell whose
    column `selected` is true is framed; `borders` are the widths of its frame and of the other borders. The layers
    `between` are drawn between colours and text. `writing` are options of the text, `mark` those of the cells.
    """
    base = alt.Chart(data()).encode(x=x, y=y)
    coloured = base.mark_rect(aria=False, **mark)
    layers = [coloured.encode(color=colour(field, signed=signed, legend=legend))]
    layers += [layer.encode(x=x, y=y) for layer in between]
    if text:
        numbers = base.mark_text(
            aria=False,
            **{"fontSize": font_size, "color": INK_ON_SIGNED if signed else INK_ON_CELLS, **(writing or {})},
        )
        layers.append(numbers.encode(text=text if isinstance(text, alt.Text) else f"{text}:N"))
    # On top and clear: the pointer on a number is the pointer on its cell.
    click_layer = base.mark_rect(fill="transparent", cursor="pointer" if selectable else "default")
    click_layer = click_layer.encode(description="name:N", tooltip=tooltip)
    if selectable:
        click_layer = framed(click_layer, borders).add_params(selectable)
        layers.append(casing(base, borders[0]))
    return alt.layer(*layers, click_layer)


def framed(marks: alt.Chart, borders: tuple[float, float] = (3, 0.4)) -> alt.Chart:
    """`marks` with a border: wide and green for rows whose column `selected` is true. `borders` are the widths in
    pixels of selected and of other rows.
    """
    wide_border, thin_border = borders
    return marks.encode(
        stroke=either("datum.selected", ACCENT, NEUTRAL),
        strokeWidth=either("datum.selected", wide_border, thin_border),
    )


def casing(base: alt.Chart, width: float, /, **mark: Any) -> alt.Chart:
    """A line in the colour of the page under the frame, `width` pixels wide, of the row whose column `selected` is true.

    It shows on both sides of the frame, whose green is too close to the colours of middle weights.
    """
    return _line(base, OTHER_INK, width + CASING, mark).encode(strokeOpacity=either("datum.selected", 1, 0))


def chosen_frame(base: alt.Chart, width: float = 2.5) -> list[alt.Chart]:
    """Two layers that frame every row of `base`: the casing, and on it the green line, `width` pixels wide."""
    return [_line(base, OTHER_INK, width + CASING, {}), _line(base, ACCENT, width, {})]


def _line(base: alt.Chart, stroke: str | alt.SchemaBase, width: float, mark: Mapping[str, Any]) -> alt.Chart:
    return base.mark_rect(fill=None, stroke=stroke, strokeWidth=width, aria=False, tooltip=None, **mark)


def head_axis(letter: str, **options: Any) -> alt.Axis:
    """The axis of layers or heads: `letter` before each number, as in L0 or H3."""
    # Not flush, or the first and the last would stand beside the middle of their cells.
    label = f"'{letter}' + datum.label"
    return alt.Axis(labelExpr=label, labelAngle=0, labelFlush=False, **BARE_AXIS, **options)
