"""Columns of horizontal bars for the same names, each column on its own scale: two factors and their product, say."""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ..builders.figure import VegaFigure, data, either, form, tip, value
from ..builders.number_format import format_number
from ..builders.palette import FALLS, RISES
from ..builders.theme import FIT, INK, MIDDLE, SMALL
from .vector_rows import names_channel

_ROW = 24  # pixels a bar
_BARS, _NUMBERS = 0.62, 0.94  # of a column: where its bars end, and the right edge of its numbers


def factor_bars(columns: Mapping[str, np.ndarray], names: Sequence[str]) -> VegaFigure:
    """For each column a bar for each of `names`, from the column's own zero, coloured by sign, with its number.

    `columns` maps the titles of the columns to their values [name].
    """
    frames = [
        _column_frame(title, numbers, names, index) for index, (title, numbers) in enumerate(columns.items())
    ]
    return _chart_form().with_data(
        pd.concat(frames, ignore_index=True),
        in_file={"number": None},
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


def _column_frame(title: str, numbers: np.ndarray, names: Sequence[str], index: int) -> pd.DataFrame:
    """Data frame with a row for each name: the column, its value, and where bar and number stand, a column being 1 wide."""
    numbers = np.asarray(numbers, float)
    lowest, highest = float(numbers.min(initial=0)), float(numbers.max(initial=0))
    width = _BARS / ((highest - lowest) or 1)
    zero = index - lowest * width
    return pd.DataFrame(
        {
            "name": list(names),
            "column": title,
            "value": numbers,
            "zero": zero,
            "tip": zero + numbers * width,
            "edge": index + _NUMBERS,
            "number": [format_number(number, "#.3g") for number in numbers],
        }
    )


@form
def _chart_form() -> alt.TopLevelMixin:
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
    base = alt.Chart(data()).encode(
        y=names_channel(paddingInner=0.2),
        tooltip=[tip("name:N", title="row"), tip("column:N"), tip("value:Q", ".5~g")],
    )
    x = alt.X("zero:Q", scale=alt.Scale(domain=[0, value("end")], nice=False), axis=axis)
    bars = base.mark_bar(height={"band": 0.72}, aria=False)
    numbers = base.mark_text(align="right", baseline="middle", fontSize=MIDDLE, color=INK, aria=False)
    return alt.layer(
        bars.encode(x=x, x2="tip:Q", fill=either("datum.value < 0", FALLS, RISES)),
        numbers.encode(x="edge:Q", text="number:N"),
    ).properties(autosize=FIT)
