"""The steps of attention as one table: a row for each key, and a column for the result of each step."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import streamlit as st

from app_pages.controls.inside_a_head_controls import BY_WEIGHT, KEY, SORT
from app_pages.inside_a_head.view import View, query_and_key_text
from app_pages.show.download import download
from app_pages.show.html_table import HtmlTable, Strip, TableCell, TableHeading, TableRow
from app_pages.toolkit.expression import Expression, call
from model.experiments.query_attention import BIAS, CONTENT_TO_POSITION, POSITION_TO_CONTENT
from viz.builders.number_format import format_number
from viz.builders.palette import largest_absolute
from viz.inside.key_table import KeyTable, column_digits, key_table

_LONGEST_TOKEN = 24  # letters of a token: where its column is narrower, the browser shortens it
_table = HtmlTable("attention_table", Path(__file__).with_suffix(".css"))
_SCORE = "score"
# The steps that the table shows, and the columns of each.
TABLE_STEPS = {
    "products": ("products", "dot"),
    "scale": ("scaled",),
    "bias": (BIAS, _SCORE),
    "relative_positions": (CONTENT_TO_POSITION, POSITION_TO_CONTENT, _SCORE),
    "mask": ("weight",),
    "softmax": ("weight",),
    "values": ("values",),
}
_TERM_TITLES = {
    BIAS: ("+ bias", "What is added to the score, by where the key stands from the query"),
    CONTENT_TO_POSITION: ("+ c → p", "Content to position: the query and the key of the relative position"),
    POSITION_TO_CONTENT: ("+ p → c", "Position to content: the query of the relative position and the key"),
}


class _ScoreColumn(NamedTuple):
    """A column of the table, on the way from the scaled products to the scores."""

    name: str
    title: str
    help: str
    values: np.ndarray  # [key]


def score_columns(view: View) -> list[_ScoreColumn]:
    """The column of scaled products and, if terms are added to these, a column for each term and one for the score."""
    attention, parts = view.steps.attention, view.record.config.family.parts
    divided = f"÷ √{attention.squared_divisor}"
    if parts.disentangled is not None:
        scaled = ("c → c", f"Content to content: the sum {divided}, which is d_k times the number of maps")
    elif parts.scaled:
        scaled = (divided, "The sum, divided by √d_k")
    else:
        scaled = ("undivided", "This encoder does not divide the sum")
    columns = [_ScoreColumn("scaled", *scaled, attention.scaled)]
    columns += [_ScoreColumn(name, *_TERM_TITLES[name], values) for name, values in attention.terms.items()]
    if attention.terms:
        columns.append(_ScoreColumn(_SCORE, "= score", "What the softmax reads", attention.scores))
    return columns


class _ScaleEnds(NamedTuple):
    """Ends of the colour scales of the products and of the weighted values, and numbers of decimals of the dot products and of
    the scores.
    """

    products: float
    values: float
    dot_digits: int
    score_digits: int


def draw_table(view: View, step: str) -> None:
    """Draws the table with the columns of `step` marked; a click on a row chooses its key, a click on a heading sorts."""
    attention, keys = view.steps.attention, list(view.keys)
    ends = _ScaleEnds(
        products=largest_absolute(attention.products[keys]),
        values=largest_absolute(attention.weighted[keys]),
        dot_digits=column_digits(attention.dots[keys]),
        # one for all that are added up
        score_digits=max(column_digits(column.values[keys]) for column in score_columns(view)),
    )
    by_weight = SORT.read() == BY_WEIGHT
    with st.container(key="inside_table", gap=None):
        _table.draw(
            _headings(view, step, ends, by_weight),
            _table_rows(view, ends, by_weight),
            key="inside_key_rows",
            take_row=KEY.take,
            take_column=lambda column: SORT.take(BY_WEIGHT if column == "weight" else ""),
            reveal=True,
        )
        download(call(key_table, _downloaded_table(view, by_weight)), "inside_table")


def _headings(view: View, step: str, ends: _ScaleEnds, by_weight: bool) -> list[TableHeading]:
    """The headings of the table, those of `step` active; clickable ones say how the rows are sorted."""
    number = {name: f"{position}\u2002" for position, name in enumerate(view.steps.order, 1)}
    q, k = query_and_key_text(view)
    scores: list[TableHeading] = [
        {"name": column.name, "title": column.title, "help": column.help} for column in score_columns(view)
    ]
    # before the first column of each step stands its number
    numbered_steps = [name for name in ("scale", "bias", "relative_positions") if name in number]
    for heading, name in zip(scores, numbered_steps, strict=False):
        heading["title"] = number[name] + heading["title"]
    headings: list[TableHeading] = [
        {
            "name": "key",
            "title": "key",
            "help": "Sort by position",
            "sorted": "none" if by_weight else "ascending",
        },
        {
            "name": "products",
            "title": f"{number['products']}{q} · {k} by component",
            "help": "A component of the query times the same component of the key"
            + ("" if q == "q" else ", both rotated"),
            "ends": _end_texts(ends.products),
        },
        {"name": "dot", "title": "their sum", "help": f"The dot product {q} · {k}"},
        *scores,
        {
            "name": "weight",
            "title": f"{number['softmax']}softmax",
            "help": "The attention weight. Sort by weight",
            "sorted": "descending" if by_weight else "none",
        },
        {
            "name": "values",
            "title": f"{number['values']}weight · v"
            + ("" if view.steps.attention.terms else " by component"),
            "help": "A component of the key's value, times the weight",
            "ends": _end_texts(ends.values),
        },
    ]
    for heading in headings:
        heading["active"] = heading["name"] in TABLE_STEPS[step]
    return headings


def _table_rows(view: View, ends: _ScaleEnds, by_weight: bool) -> list[TableRow]:
    """The row of the query, a row for each drawn key, one for all other keys together, and the sum."""
    attention = view.steps.attention
    weights_to, dots = view.chosen.of_head(view.record).largest, attention.dots[list(view.keys)]
    lowest = float(dots.min(initial=0))
    dot_range = float(dots.max(initial=0)) - lowest or 1.0
    q = _rounded_components(attention.q)
    scores = score_columns(view)
    columns = ["key", "products", "dot", *(column.name for column in scores), "weight", "values"]
    rows = [
        _vector_row(
            columns,
            "head",
            f"{query_and_key_text(view)[0]}  {view.name(view.query)}",
            "products",
            attention.q,
        )
    ]
    for key in view.ordered(by_weight=by_weight):
        dot, weight = float(attention.dots[key]), float(attention.pattern[key])
        zero = -lowest / dot_range
        bar = sorted((zero, zero + dot / dot_range))
        weight_cell: TableCell = {"name": "weight masked", "text": "masked"}
        if attention.mask[key]:
            share = min(weight / weights_to, 1)
            weight_cell = {
                "name": "weight",
                "text": f"{weight:.3f}",
                "span": (0.0, round(share, 4)),
                "help": format_number(weight, ".4g"),
            }
        cells: list[TableCell] = [
            {"name": "key", "text": view.name(key, _LONGEST_TOKEN), "is_header": True, "is_button": True},
            _strip_cell(
                "products", attention.products[key], ends.products, [q, _rounded_components(attention.k[key])]
            ),
            {
                "name": "dot falls" if dot < 0 else "dot rises",
                "text": format_number(dot, f".{ends.dot_digits}f"),
                "span": (round(bar[0], 4), round(bar[1], 4)),
            },
            *(
                TableCell(
                    name=column.name,
                    text=format_number(float(column.values[key]), f".{ends.score_digits}f"),
                )
                for column in scores
            ),
            weight_cell,
            _strip_cell(
                "values",
                attention.weighted[key],
                ends.values,
                [_four_digits(weight), _rounded_components(attention.v[key])],
            ),
        ]
        rows.append({"key": key, "current": key == view.key, "cells": cells})
    if view.n_hidden:
        weighted, weight = attention.remaining(view.keys)
        rows.append(
            _vector_row(
                columns, "foot", f"the other {view.n_hidden}", "values", weighted, ends.values, weight
            )
        )
    z, total = attention.z[view.chosen.head], float(attention.pattern.sum())
    rows.append(_vector_row(columns, "foot", "sum: z", "values", z, weight=total))
    return rows


def _vector_row(
    columns: Sequence[str],
    part: Literal["head", "foot"],
    name: str,
    column: str,
    vector: np.ndarray,
    end: float | None = None,
    weight: float | None = None,
) -> TableRow:
    """A row in the head or the foot of the table, with a `vector` in the cell of `column` and nothing in the other `columns`.

    The vector's colours end at ±`end`, by default at its largest absolute value.
    """
    cells: dict[str, TableCell] = {column_name: {"name": column_name, "text": ""} for column_name in columns}
    cells["key"] = {"name": "key", "text": name, "is_header": True}
    cells[column] = _strip_cell(column, vector, end or largest_absolute(vector))
    if end is None:
        cells["key"]["help"] = f"Its colours end at ±{largest_absolute(vector):.3g}"
    if weight is not None:
        cells["weight"]["text"] = f"{weight:.3f}"
    return {"key": -1, "current": False, "cells": list(cells.values()), "part": part}


def _strip_cell(
    name: str, vector: np.ndarray, end: float, factors: list[float | list[float]] | None = None
) -> TableCell:
    """A cell with the vector as a strip of colours that end at ±`end`."""
    strip: Strip = {"values": _rounded_components(vector), "largest": _four_digits(end)}
    if factors is not None:
        strip["factors"] = factors
    return {"name": name, "text": "", "strip": strip}


def _end_texts(end: float) -> tuple[str, str]:
    """The ends -`end` and `end` of a colour scale, as text."""
    return format_number(-end, ".3g"), format_number(end, ".3g")


def _four_digits(number: float) -> float:
    return float(f"{number:.4g}")


def _rounded_components(vector: np.ndarray) -> list[float]:
    """The components with four significant digits, for the tooltip."""
    return [_four_digits(component) for component in vector.tolist()]


def _downloaded_table(view: View, by_weight: bool) -> Expression:
    """The `KeyTable` of the drawn keys, for files."""
    attention = view.source.attention
    keys = view.ordered(by_weight=by_weight)
    values = {"scaled": attention.scaled, _SCORE: attention.scores}
    values |= {name: attention.terms[name] for name in view.steps.attention.terms}
    return call(
        KeyTable,
        names=[view.name(key) for key in keys],
        query=view.name(view.query),
        q=attention.q,
        products=attention.products[keys],
        dots=attention.dots[keys],
        scores={column.title: values[column.name][keys] for column in score_columns(view)},
        weights=call(attention.allowed, attention.pattern)[keys],
        weighted=attention.weighted[keys],
        remaining=call(attention.remaining, keys)[0] if view.n_hidden else None,
        z=attention.z[view.chosen.head],
        scale=view.chosen.of_head(view.record),
        chosen=keys.index(view.key),
    )
