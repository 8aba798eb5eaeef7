"""The inputs in a table of which a row opens its input.

`st.dataframe` sorts in the browser without telling how, opens nothing by a click on a row, and is a canvas to whoever cannot
see it; so this is a table of HTML. What is written into its cells is written as text: nothing in it is markup.
"""

import base64
import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from PIL import Image

from app_pages.inputs.input_list import Item, thumbnail_of
from app_pages.many_inputs.predictions import Line, Outcome
from viz.builders.number_format import percent, written

HERE = Path(__file__).parent
SIGNS = 160  # of a text that are sent to the browser
SIDE = 36  # pixels of a thumbnail
# Headings of what makes an input hard.
_NUMBERS = {
    "loss": "loss, nats",
    "entropy": "uncertainty (entropy, nats)",
    "loss or entropy": "loss, or uncertainty (entropy), nats",
    "distance": "distance",
}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_table = st.components.v2.component(
    "many_inputs",
    html='<div class="scroll"><table><thead></thead><tbody></tbody></table></div>',
    css=(HERE / "table.css").read_text(encoding="utf-8"),
    js=(HERE / "table.js").read_text(encoding="utf-8"),
)


def table(
    items: Sequence[Item],
    outcome: Outcome,
    lines: Sequence[Line],
    opened: int | None,
    take: Callable[[int], None],
) -> None:
    """`lines` in their order; the one of the item that was `opened` last is marked. `take` gets the number of an item."""
    numbers = {line.number for line in lines}

    def clicked() -> None:
        number = st.session_state["many_table"].opened
        if isinstance(number, int | float) and int(number) in numbers:
            take(int(number))

    rows = [_row(items[line.number], outcome, line) for line in lines]
    head = {"head": _head(items, outcome), "explained": outcome.explained}
    data = {**head, "rows": rows, "opened": opened}
    _table(key="many_table", data=data, on_opened_change=clicked)


def _head(items: Sequence[Item], outcome: Outcome) -> list[str]:
    answer = "most similar" if outcome.surprise == "distance" else "answer"
    what = "input" if items[0].text is not None else "picture"
    label = ["label"] if outcome.n_labelled else []
    number = [_NUMBERS.get(outcome.surprise, outcome.surprise)]
    unknown = ["unknown tokens"] if outcome.has_unknown else []
    return ["", what, *unknown, answer, *label, *(number if outcome.surprise else [])]


def _row(item: Item, outcome: Outcome, line: Line) -> dict:
    probability = percent(line.probability, below="<", above=">") if line.probability is not None else ""
    said = f"number {line.nearest + 1:,}" if line.nearest is not None else line.said
    row = {
        "number": line.number,
        "shown": f"{line.number + 1:,}",
        "said": said,
        "probability": probability,
        "name": _beginning(item),
        "title": _beginning(item, 600),
    }
    if line.left_out:
        row["note"] = f"{line.left_out:,} token{'s' * (line.left_out != 1)} left out"
    if outcome.has_unknown:
        row["unknown"] = percent(line.unknown, below="<")
    if outcome.n_labelled:
        row["right"] = line.right
        row["label"] = item.label if line.label is None else outcome.classes[line.label]
    if outcome.surprise:
        row["surprise"] = written(line.surprise, ".3f" if outcome.surprise == "distance" else ".2f")
    if (picture := thumbnail_of(item)) is not None:
        row["picture"] = _thumbnail(picture)
    return row


def _beginning(item: Item, signs: int = SIGNS) -> str:
    if item.text is None:
        return item.name
    text = item.text.text if item.text.second is None else f"{item.text.text} ‖ {item.text.second}"
    text = " ".join(text[: 2 * signs].split())
    return text if len(text) <= signs else f"{text[:signs]}…"


def _thumbnail(picture: np.ndarray) -> str:
    """As an address that holds the picture itself."""
    small, file = Image.fromarray(picture), io.BytesIO()
    small.thumbnail((2 * SIDE, 2 * SIDE))
    small.save(file, "PNG" if small.mode == "L" else "JPEG")
    return f"data:image;base64,{base64.b64encode(file.getvalue()).decode()}"


def as_csv(items: Sequence[Item], outcome: Outcome, lines: Sequence[Line]) -> bytes:
    """The table with whole texts and all digits, in UTF-8.

    A spreadsheet runs a cell that begins with one of `FORMULA`, and texts, labels, class names and the names of files were
    written by others: such a cell gets an apostrophe before it, by which spreadsheets take it as text (OWASP, "CSV
    Injection"). A program that reads the file finds the apostrophe too; numbers of our own are left as they are.
    """
    given = [items[line.number] for line in lines]
    columns = {"number": [line.number + 1 for line in lines]}
    if any(item.text is None for item in given):
        columns["file"] = [_as_text(item.name) for item in given]
    else:
        columns["text"] = [_as_text(item.text.text) for item in given]
        if any(item.text.second for item in given):
            columns["second"] = [_as_text(item.text.second or "") for item in given]
        columns["tokens_left_out"] = [line.left_out for line in lines]
        if outcome.has_unknown:
            columns["share_of_unknown_tokens"] = [line.unknown for line in lines]
    columns["answer"] = [_as_text(line.said) for line in lines]
    columns["probability"] = [line.probability for line in lines]
    columns["label"] = [_as_text(item.label) for item in given]
    columns["right"] = [{True: "yes", False: "no", None: ""}[line.right] for line in lines]
    if outcome.surprise == "distance":
        columns["most_like_it"] = [None if line.nearest is None else line.nearest + 1 for line in lines]
    unit = "" if outcome.surprise == "distance" else "_nats"
    if outcome.surprise:
        columns[f"{outcome.surprise.replace(' ', '_')}{unit}"] = [line.surprise for line in lines]
    frame = pd.DataFrame(columns).dropna(axis="columns", how="all")
    return frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC).encode("utf-8")


def _as_text(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell
