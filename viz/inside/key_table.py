"""The computation of one head for one query as a table: a row for each key, vectors as coloured cells, numbers and
bars.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from ..builders.cells import frame_layers
from ..builders.chart import Column, chart, layer
from ..builders.figure import Kwargs, VegaFigure, conditional_value, tip
from ..builders.number_format import format_number
from ..builders.palette import EMPHASIS, FALLS, RISES, WeightScale, largest_absolute
from ..builders.picture_marks import pixel_x, pixel_y
from ..builders.theme import INK, MIDDLE
from ..builders.token_label import FONT
from ..builders.vega_colours import colour
from .vector_rows import bar_ends

# Pixels: a row, the headings, and the columns from left to right: names, products, their sums, scores, weights, values.
_ROW, _HEAD = 22, 44
_PRODUCTS, _DOTS, _SCORES = 116, 410, 520
_SCORE_WIDTH, _WEIGHT_WIDTH, _VALUES_WIDTH = 60, 120, 294
_LETTER = 8
_GAP, _NUMBER = 10, 50  # between columns, and for a number beside its bar


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTable:
    """The numbers of one query in one head; arrays cover the keys that are drawn, in the order of the rows."""

    names: list[str]
    query: str
    q: np.ndarray  # [component]
    products: np.ndarray  # [key, component]
    dots: np.ndarray  # [key]
    scores: Mapping[str, np.ndarray]  # [key] by heading: divided sums, what is added to them, and the scores
    weights: np.ndarray  # [key], NaN where the key is masked
    weighted: np.ndarray  # [key, component]: the value times the weight
    remaining: np.ndarray | None  # [component]: the sum of `weighted` over keys without a row
    z: np.ndarray  # [component]
    scale: WeightScale
    chosen: int  # row of the key that is framed

    @property
    def score_width(self) -> int:
        """The width in pixels of each column of `scores`, which fits the longest heading."""
        return max(_SCORE_WIDTH, _GAP + _LETTER * max(map(len, self.scores)))

    @property
    def left_of_weights(self) -> int:
        """The x in pixels at which the column of weights starts."""
        return _SCORES + self.score_width * len(self.scores)

    @property
    def left_of_values(self) -> int:
        """The x in pixels at which the columns of weighted values start."""
        return self.left_of_weights + _WEIGHT_WIDTH

    @property
    def width(self) -> int:
        """The width of the whole table in pixels."""
        return self.left_of_values + _VALUES_WIDTH


def key_table(table: KeyTable) -> VegaFigure:
    """A table with a row for each key: the products of query and key by component, their sum q·k, the numbers up to
    the score, the weight, and the weighted value by component; above the keys stands the query, below them the sum z.

    Colours are symmetric about 0 and end at the largest absolute value of the products, and of the weighted values;
    query and z have colour scales of their own. The figure's data frame has a row for each key with all its numbers.
    """
    n_keys = len(table.names)
    rows = np.arange(n_keys) + 1  # below the query
    values = table.left_of_values, table.width
    blocks = [
        _cell_frame(table.q[None], np.array([0]), table.query, (_PRODUCTS, _DOTS)),
        _cell_frame(table.products, rows, table.names, (_PRODUCTS, _DOTS)),
        _cell_frame(table.weighted, rows, table.names, values),
    ]
    names = [f"q  {table.query}", *table.names]
    end = largest_absolute(table.weighted)
    if table.remaining is not None:
        blocks.append(_cell_frame(table.remaining[None], np.array([len(names)]), "others", values, end))
        names.append("the other keys")
    blocks.append(_cell_frame(table.z[None], np.array([len(names)]), "z", values))
    names.append("sum: z")
    numbers = {
        "name": table.names,
        "dot": table.dots,
        **table.scores,
        "weight": table.weights,
        **{f"product {component}": column for component, column in enumerate(table.products.T)},
        **{f"weighted value {component}": column for component, column in enumerate(table.weighted.T)},
    }
    box = {"x": pixel_x("left"), "x2": "right:Q", "y": pixel_y("upper"), "y2": "lower:Q"}
    tooltip = [tip("name:N"), tip("component:Q"), tip("value:Q", ".4~g")]
    style: Kwargs = {"baseline": "middle", "fontSize": MIDDLE, "color": INK, "aria": False}
    text = {
        "x": pixel_x("x"),
        "y": pixel_y("y"),
        "text": "text:N",
        "opacity": conditional_value("datum.small", 0.75, 1),
    }
    key = {"x": alt.value(5), "y": pixel_y("y"), "text": "text:N"}
    return chart(
        [Column(name, column) for name, column in numbers.items()],
        layer("rect", box | {"color": colour("share", signed=True), "tooltip": tooltip}, "cells", aria=False),
        layer("rect", box | {"fill": alt.Fill("colour:N", scale=None)}, "bars", aria=False),
        layer("text", text, "texts", align=alt.expr("datum.align"), **style),
        layer("text", key, "keys", align="left", font=FONT, **style),
        *frame_layers(box, "framed"),
        frames={
            "cells": pd.concat(blocks, ignore_index=True),
            "bars": _dot_and_weight_bars(table),
            "texts": _label_texts(table, names),
            "keys": {"y": _row_top(np.arange(n_keys) + 1.5), "text": table.names},
            "framed": {
                "left": [0],
                "right": [table.width],
                "upper": [_row_top(table.chosen + 1)],
                "lower": [_row_top(table.chosen + 2)],
            },
        },
        values={"largest": 1.0},
        width=table.width,
        height=_HEAD + _ROW * len(names),
        autosize="pad",
        description=f"Attention of {table.query}, a row for each of {n_keys} keys, {table.names[table.chosen]} framed",
    )


def column_digits(values: np.ndarray) -> int:
    """The number of decimals for a column of numbers: three significant digits for the largest, but at least one
    decimal and at most four.
    """
    maximum = float(np.abs(values).max(initial=0))
    return min(max(2 - math.floor(math.log10(maximum)), 1), 4) if maximum else 1


def _row_top(row: Any) -> Any:
    """The y in pixels at which a row of the table starts; `row` is a number or an array."""
    return _HEAD + _ROW * row


def _cell_frame(
    vectors: np.ndarray,
    rows: np.ndarray,
    names: list[str] | str,
    column: tuple[int, int],
    end: float | None = None,
) -> pd.DataFrame:
    """A data frame with a row for each cell of `vectors` [row, component]: its name, component, value, share and
    edges in pixels.

    Row i of `vectors` is drawn in row `rows[i]` of the table, between the two x positions in `column`, and has the
    name `names[i]`, or `names` if that is a string. `share` is the value divided by `end`, by default the largest
    absolute value of all vectors.
    """
    left, right = column[0], column[1] - _GAP
    n_rows, n_components = vectors.shape
    row, component = np.indices(vectors.shape).reshape(2, -1)
    side = (right - left) / (n_components or 1)
    return pd.DataFrame(
        {
            "name": np.resize(np.array(names, dtype=object), n_rows)[row],
            "component": component,
            "value": vectors.ravel(),
            "share": vectors.ravel() / (end or largest_absolute(vectors)),
            "left": left + component * side,
            "right": left + (component + 1) * side,
            "upper": _row_top(rows[row]) + 1,
            "lower": _row_top(rows[row] + 1) - 1,
        }
    )


def _dot_and_weight_bars(table: KeyTable) -> pd.DataFrame:
    """The edges in pixels and the colour of the bars of the dot products q·k, from a common zero, and of the weights."""
    zero, tips = bar_ends(table.dots, _DOTS, _SCORES - _DOTS - _NUMBER - _GAP)
    dot_ends = np.sort([np.full(len(tips), zero), tips], axis=0)
    weight_bar_width = _WEIGHT_WIDTH - _NUMBER - _GAP
    weight_shares = np.clip(np.nan_to_num(table.weights) / table.scale.largest, 0, 1)
    weight_ends = weight_shares * weight_bar_width + table.left_of_weights
    upper = _row_top(np.arange(len(table.dots)) + 1.0)
    middle = {"upper": upper + 5, "lower": upper + _ROW - 5}
    dots = pd.DataFrame(
        {"left": dot_ends[0], "right": dot_ends[1], "colour": np.where(table.dots < 0, FALLS, RISES)} | middle
    )
    weights = pd.DataFrame(
        {"left": float(table.left_of_weights), "right": weight_ends, "colour": EMPHASIS} | middle
    )
    return pd.concat([dots, weights], ignore_index=True)


def _label_texts(table: KeyTable, names: list[str]) -> pd.DataFrame:
    """All texts of the table except the names of keys, with their positions in pixels: names of other rows, numbers,
    headings, and the ends of the colour scales.
    """
    texts = [
        (5, _row_top(row + 0.5), name, "left", False)
        for row, name in enumerate(names)
        if not 1 <= row <= len(table.names)
    ]
    digits = max(map(column_digits, table.scores.values()))
    rights = range(_SCORES + table.score_width, table.left_of_weights + 1, table.score_width)
    columns = [
        ("sum", _SCORES, table.dots, f".{column_digits(table.dots)}f"),
        *(
            (heading, right, numbers, f".{digits}f")
            for right, (heading, numbers) in zip(rights, table.scores.items(), strict=True)
        ),
        ("softmax", table.left_of_values, table.weights, ".3f"),
    ]
    for heading, right, numbers, spec in columns:
        texts.append((right - _GAP, 10, heading, "right", False))
        texts += [
            (
                right - _GAP,
                _row_top(row + 1.5),
                format_number(number, spec, otherwise="masked"),
                "right",
                False,
            )
            for row, number in enumerate(numbers.tolist())
        ]
    headings = [(_PRODUCTS, "q · k by component"), (table.left_of_values, "weight · v by component")]
    texts += [(x, 10, text, "left", False) for x, text in headings]
    texts += [
        (x, 28, f"colours to ±{format_number(end, '.3g')}", "left", True)
        for x, end in (
            (_PRODUCTS, largest_absolute(table.products)),
            (table.left_of_values, largest_absolute(table.weighted)),
        )
    ]
    return pd.DataFrame(texts, columns=["x", "y", "text", "align", "small"])
