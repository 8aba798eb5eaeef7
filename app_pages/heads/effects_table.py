"""A table of mean effects: a row for each part, the largest first, with its interval and standard deviation."""

from pathlib import Path

import numpy as np

from app_pages.heads.patch_effect import Columns
from app_pages.show.html_table import HtmlTable, TableCell, TableHeading, TableRow
from model.experiments.patching_over_pairs import SIGNIFICANT, MeanEffects
from viz.builders.number_format import format_number

_TITLES = {"part": "part", "mean": "mean", "interval": "95 % interval", "sd": "sd", "n": "pairs"}
_RESULT = {"result": "effect"}
_table = HtmlTable("patch_effects", Path(__file__).with_suffix(".css"))


def draw_effects_table(
    effects: MeanEffects, columns: Columns, head: tuple[int, int], *, is_tested: bool
) -> None:
    """Draws the effects and marks the row of the chosen `head`; a click on a row chooses its head.

    `is_tested` adds whether an effect is clear, which says nothing about distances.
    """
    titles = _TITLES | (_RESULT if is_tested else {})
    headings: list[TableHeading] = [{"name": name, "title": title} for name, title in titles.items()]
    order = np.argsort(-np.abs(effects.mean), axis=None, kind="stable")
    indices = [divmod(int(number), len(columns.names)) for number in order]
    current = head[0], columns.of_head(head[1])
    p_values = effects.p if is_tested else None
    rows: list[TableRow] = [
        {
            "key": [layer, column],
            "current": (layer, column) == current,
            "cells": _cells(effects, columns, layer, column, p_values),
        }
        for layer, column in indices
    ]

    def take_row(key: list[int]) -> None:
        columns.take({"layer": key[0], "column": key[1]})

    _table.draw(headings, rows, key="patch_table", take_row=take_row)


def _cells(
    effects: MeanEffects, columns: Columns, layer: int, column: int, p_values: np.ndarray | None
) -> list[TableCell]:
    spec = "#.3g" if p_values is None else "+#.3g"
    mean, sd, low, high = (
        format_number(float(numbers[layer, column]), spec if numbers is not effects.sd else "#.3g")
        for numbers in (effects.mean, effects.sd, effects.low, effects.high)
    )
    interval = "–" if effects.n < 2 else f"{low} to {high}"
    cells: list[TableCell] = [
        {"name": "part", "text": columns.name(layer, column), "is_header": True, "is_button": True},
        {"name": "mean", "text": mean},
        {"name": "interval", "text": interval},
        {"name": "sd", "text": sd},
        {"name": "n", "text": f"{effects.n}"},
    ]
    if p_values is not None:
        p = p_values[layer, column]
        result = "not tested" if np.isnan(p) else "clear" if p < SIGNIFICANT else "could be chance"
        cells.append({"name": "result", "text": result})
    return cells
