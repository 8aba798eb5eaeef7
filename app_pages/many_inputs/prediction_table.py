"""A table of the inputs with their predictions; a click on a row opens its input."""

import base64
import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from app_pages.inputs.input_list import Item, thumbnail_of
from app_pages.many_inputs.predictions import Prediction, Predictions
from app_pages.show.html_table import HtmlTable, TableCell, TableHeading, TableRow
from app_pages.toolkit.markdown import counted
from viz.builders.number_format import format_number, percent

MOST_CHARACTERS = 160  # of a text that are sent to the browser
THUMBNAIL_SIDE = 36  # pixels of a thumbnail
# Headings of what makes an input hard, where they are not its name alone.
_HARDNESS_TITLES = {"loss": "loss (nats)", "entropy": "uncertainty (nats)"}
# Of an answer that is right, wrong, or that nothing can be said of: its classes in the style sheet, a mark and what that means.
_MARKS = {
    True: ("answer right", "✓ ", "as labelled"),
    False: ("answer wrong", "✗ ", "wrong: not as labelled"),
    None: ("answer", "", ""),
}
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
_table = HtmlTable("many_inputs", Path(__file__).with_suffix(".css"))


def draw_table(
    items: Sequence[Item],
    predictions: Predictions,
    lines: Sequence[Prediction],
    opened: int | None,
    take: Callable[[int], None],
) -> None:
    """Draws `lines` in their order with the `opened` one marked; a click on a row calls `take` with the number of its item."""
    rows: list[TableRow] = [
        {
            "key": line.number,
            "current": line.number == opened,
            "cells": _row_cells(items[line.number], predictions, line),
        }
        for line in lines
    ]
    _table.draw(_headings(items, predictions), rows, key="many_table", take_row=take, reveal=True)


def _headings(inputs: Sequence[Item], predictions: Predictions) -> list[TableHeading]:
    titles = ["", "input" if inputs[0].text is not None else "picture"]
    if predictions.has_unknown:
        titles.append("unknown tokens")
    titles.append("most similar" if predictions.surprise == "distance" else "answer")
    headings: list[TableHeading] = [{"name": "", "title": title} for title in titles]
    if predictions.n_labelled:
        headings.append({"name": "", "title": "label", "help": "The right answer, as the list gives it"})
    for name in predictions.quantities[:1]:
        title = _HARDNESS_TITLES.get(name, name)
        headings.append({"name": "surprise", "title": title, "help": predictions.explanation})
    return headings


def _row_cells(item: Item, predictions: Predictions, line: Prediction) -> list[TableCell]:
    name: TableCell = {
        "name": "input",
        "text": _short_text(item),
        "help": _short_text(item, 600),
        "is_button": True,
    }
    if line.left_out:
        name["small"] = f"{counted(line.left_out, 'token')} left out"
    if (picture := thumbnail_of(item)) is not None:
        name["picture"] = _thumbnail_uri(picture)
    cells: list[TableCell] = [{"name": "number", "text": f"{line.number + 1:,}"}, name]
    if predictions.has_unknown:
        cells.append({"name": "unknown", "text": percent(line.unknown, brief=True)})
    classes, mark, meaning = _MARKS[line.is_right]
    cells.append(
        {
            "name": classes,
            "text": mark + (line.answer if line.nearest is None else f"number {line.nearest + 1:,}"),
            "small": "" if line.probability is None else percent(line.probability, brief=True),
            "help": meaning,
        }
    )
    if predictions.n_labelled:
        if line.label is not None:
            cells.append({"name": "label", "text": predictions.classes[line.label]})
        else:
            help_text = "not a class of this encoder" if item.label else "no label"
            cells.append(
                {"name": "label", "text": f"? {item.label}" if item.label else "–", "help": help_text}
            )
    for quantity in predictions.quantities[:1]:
        number_format = ".3f" if quantity == "distance" else ".2f"
        is_known = predictions.quantity_of(line) == quantity
        text = format_number(line.surprise, number_format) if is_known else "–"
        cells.append({"name": "surprise", "text": text, "help": "" if is_known else "no label, so no loss"})
    return cells


def _short_text(item: Item, signs: int = MOST_CHARACTERS) -> str:
    if item.text is None:
        return item.name
    text = item.text.text if item.text.second is None else f"{item.text.text} ‖ {item.text.second}"
    text = " ".join(text[: 2 * signs].split())
    return text if len(text) <= signs else f"{text[:signs]}…"


def _thumbnail_uri(picture: np.ndarray) -> str:
    """Data URI of a reduced picture."""
    thumbnail, file = Image.fromarray(picture), io.BytesIO()
    thumbnail.thumbnail((2 * THUMBNAIL_SIDE, 2 * THUMBNAIL_SIDE))
    thumbnail.save(file, "PNG" if thumbnail.mode == "L" else "JPEG")
    return f"data:image;base64,{base64.b64encode(file.getvalue()).decode()}"


def as_csv(items: Sequence[Item], predictions: Predictions, lines: Sequence[Prediction]) -> bytes:
    """The table as CSV in UTF-8, with full texts and all digits.

    Spreadsheets run a cell that begins with one of `FORMULA_SIGNS`. Texts, labels, class names and file names come from others,
    so such cells get an apostrophe in front, which makes spreadsheets treat them as text (OWASP, "CSV Injection"). Other
    programs that read the file see the apostrophe too; our own numbers are left as they are.
    """
    shown_items = [items[line.number] for line in lines]
    columns: dict[str, Sequence[object]] = {"number": [line.number + 1 for line in lines]}
    texts = [item.text for item in shown_items if item.text is not None]
    if len(texts) < len(shown_items):
        columns["file"] = [_escape_formula(item.name) for item in shown_items]
    else:
        columns["text"] = [_escape_formula(text.text) for text in texts]
        if any(text.second for text in texts):
            columns["second"] = [_escape_formula(text.second or "") for text in texts]
        columns["tokens_left_out"] = [line.left_out for line in lines]
        if predictions.has_unknown:
            columns["share_of_unknown_tokens"] = [line.unknown for line in lines]
    columns["answer"] = [_escape_formula(line.answer) for line in lines]
    columns["probability"] = [line.probability for line in lines]
    columns["label"] = [_escape_formula(item.label) for item in shown_items]
    columns["right"] = [{True: "yes", False: "no", None: ""}[line.is_right] for line in lines]
    if predictions.surprise == "distance":
        columns["most_like_it"] = [None if line.nearest is None else line.nearest + 1 for line in lines]
    unit = "" if predictions.surprise == "distance" else "_nats"
    for name in predictions.quantities:
        columns[f"{name}{unit}"] = [
            line.surprise if predictions.quantity_of(line) == name else None for line in lines
        ]
    frame = pd.DataFrame(columns).dropna(axis="columns", how="all")
    return frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC).encode("utf-8")


def _escape_formula(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA_SIGNS) else cell
