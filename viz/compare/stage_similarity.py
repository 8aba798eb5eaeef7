"""Similarities between two sets of stages, with the number in each cell."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, cells, strong
from ..builders.figure import VegaFigure, form, need_shape, tip, value
from ..builders.number_format import format_number
from ..builders.palette import NEUTRAL
from ..builders.theme import MIDDLE, SMALL, heading
from ..builders.vega_colours import ENDS, SIGNED_ENDS, colour_legend

_SMALLEST, _LARGEST = 12, 46
_WRITTEN, _WIDE = 26, 36  # pixels that a cell needs for its number, and for one in larger letters


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
    """A grid of similarities [row, column], coloured from 0 (-1 if `signed`) to 1; `rows` and `columns` are stages, and
    `names` the titles of these two axes.

    The longer side is about `side` pixels. NaN is drawn as a dash, and the tooltip says why: `undefined`. Raises
    ValueError where the shapes do not fit.
    """
    need_shape((len(rows), len(columns)), values=values)
    row, column = (
        np.asarray(stages, dtype=object)[index]
        for stages, index in zip((rows, columns), np.indices(values.shape).reshape(2, -1), strict=True)
    )
    flat = values.ravel().astype(float)
    frame = {
        "row": row,
        "column": column,
        "name": row + " and " + column,
        "value": flat,
        "written": [format_number(similarity, ".2f") for similarity in flat],
        "exact": [format_number(similarity, ".4f", otherwise=undefined) for similarity in flat],
        "strong": strong(flat, 1, signed=signed),
    }
    step = int(np.clip(side // max(*values.shape, 1), _SMALLEST, _LARGEST))
    font_size = 0 if step < _WRITTEN else SMALL if step < _WIDE else MIDDLE
    return _chart_form(names, what, signed, font_size).with_data(
        frame,
        in_file={"value": what, "name": None},
        values={"largest": 1, "rows": list(rows), "columns": list(columns)},
        width=step * len(columns),
        height=step * len(rows),
        title=heading(title),
        description=f"{what} of {len(rows)} stages of {names[0]} and {len(columns)} of {names[1]}",
    )


@form
def _chart_form(names: tuple[str, str], what: str, signed: bool, font_size: int) -> alt.TopLevelMixin:
    row, column = names
    axis = BARE_AXIS | {"labelOverlap": "greedy", "labelFlush": False}
    x_axis = alt.Axis(orient="top", labelAngle=-90, **axis)
    return cells(
        alt.X("column:N", scale=alt.Scale(domain=value("columns")), title=column, axis=x_axis),
        alt.Y("row:N", scale=alt.Scale(domain=value("rows")), title=row, axis=alt.Axis(**axis)),
        tooltip=[
            tip("row:N", title=row),
            # two columns of one name would be one line of the tooltip
            tip("column:N", title=column if column != row else f"{column}, other stage"),
            tip("exact:N", title=what),
        ],
        signed=signed,
        text="written" if font_size else None,
        font_size=font_size,
        legend=colour_legend(
            f"{what}, {'−1' if signed else '0'} to 1", SIGNED_ENDS if signed else ENDS, format="~g"
        ),
        stroke=NEUTRAL,
        strokeWidth=0.3,
        invalid=None,
    ).properties(autosize="pad")
