"""Maps over the stages of the residual stream: similarities of two sets of stages, and lengths of vectors."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from ..builders.cells import BARE_AXIS, grid
from ..builders.chart import Column
from ..builders.figure import VegaFigure, need_shape, value
from ..builders.heatmap import colour_scale, heatmap, position_labels
from ..builders.heatmap_figure import Heatmap
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
    pairs = [(row, column) for row in rows for column in columns]
    step = int(np.clip(side // max(*values.shape, 1), _SMALLEST, _LARGEST))
    axis = BARE_AXIS | {"labelOverlap": "greedy", "labelFlush": False}
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
    """A heatmap of norms [stage, position], coloured from 0 to `limit`, which both sides share.

    `unit` says what the tokens are, such as "patch". Raises ValueError where the shapes do not fit.
    """
    need_shape((len(stages), len(tokens)), norms=norms)
    return heatmap(
        norms,
        x=position_labels(tokens),
        y=stages,
        titles=(unit, "stage of the stream"),
        colours=colour_scale("length of the state", "0 to the longest of both sides", limit, signed=False),
        cell="%{y}, '%{x}'",
        number=": %{z:.3f}",
        height=230 + _STEP * len(stages),
        tokens="x",
        title=title,
        description=f"Length of the states of {title}, a row a stage",
    )
