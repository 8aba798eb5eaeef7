"""Columns of horizontal bars for the same names, each column on its own scale: two factors and their product, say."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np

from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, either, value
from ..builders.number_format import format_number
from ..builders.palette import FALLS, RISES
from ..builders.theme import INK, MIDDLE, SMALL
from .vector_rows import names_channel

_ROW = 24  # pixels a bar
_BARS, _NUMBERS = 0.62, 0.94  # of a column: where its bars end, and the right edge of its numbers


def factor_bars(columns: Mapping[str, np.ndarray], names: Sequence[str]) -> VegaFigure:
    """For each column a bar for each of `names`, from the column's own zero, coloured by sign, with its number.

    `columns` maps the titles of the columns to their values [name].
    """
    numbers = np.array(list(columns.values()), float).reshape(len(columns), len(names))
    lowest, highest = numbers.min(axis=1, initial=0), numbers.max(axis=1, initial=0)
    # A column is 1 wide.
    scale = (_BARS / np.where(highest > lowest, highest - lowest, 1))[:, None]
    index = np.arange(len(columns))[:, None]
    zero = np.broadcast_to(index - lowest[:, None] * scale, numbers.shape)
    drawn = [
        Column("name", list(names) * len(columns), "row"),
        Column("column", np.repeat(np.array(list(columns), object), len(names))),
        Column("value", numbers, format=".5~g"),
    ]
    axis = alt.Axis(
        orient="top",
        title=None,
        values=value("ticks"),
        labelExpr="titles[floor(datum.value)]",
        labelFontSize=SMALL,
        labelPadding=6,
        labelOverlap=False,
        ticks=False,
        domain=False,
        grid=False,
    )
    base = {"y": names_channel(paddingInner=0.2), "tooltip": drawn}
    bar = {
        "x": alt.X("zero:Q", scale=alt.Scale(domain=[0, value("end")], nice=False), axis=axis),
        "x2": "tip:Q",
        "fill": either("datum.value < 0", FALLS, RISES),
    }
    text: Kwargs = {"align": "right", "baseline": "middle", "fontSize": MIDDLE, "color": INK, "aria": False}
    return chart(
        drawn,
        layer("bar", base | bar, height={"band": 0.72}, aria=False),
        layer("text", base | {"x": "edge:Q", "text": "number:N"}, **text),
        drawing={
            "zero": zero,
            "tip": zero + numbers * scale,
            "edge": np.broadcast_to(index + _NUMBERS, numbers.shape),
            "number": [format_number(number, "#.3g") for number in numbers.flat],
        },
        values={
            "rows": list(names),
            "chosen": "",
            "titles": list(columns),
            "ticks": (np.arange(len(columns)) + _BARS / 2).tolist(),
            "end": len(columns),
        },
        # A number, for which the width can still be fitted: with a step it could not.
        height=max(len(names), 1) * _ROW,
        description=f"{', '.join(columns)} of {', '.join(list(names)[:12])}: {len(names)} rows of bars",
    )
