import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app_pages.inputs.input_list import Item
from app_pages.many_inputs.prediction_table import (
    FORMULA_SIGNS,
    MOST_CHARACTERS,
    _headings,
    _row_cells,
    as_csv,
)
from app_pages.many_inputs.predictions import Prediction, Predictions
from model.inputs import Picture, Text

ITEMS = (
    Item(text=Text("=1+1"), label="negative"),
    Item(text=Text("a\nb"), label="@x"),
    Item(text=Text("y" * 900)),
)
LINES = (
    Prediction(number=0, answer="positive", predicted=1, probability=0.75, label=0, surprise=1.386),
    Prediction(number=1, answer="-odd", predicted=0, probability=0.5, surprise=0.693, left_out=3),
    Prediction(number=2, answer="positive", predicted=1, probability=0.999999, surprise=0.0),
)
FOUND = Predictions(lines=LINES, surprise="loss or entropy", explanation="", classes=("negative", "positive"))


def cells(item: Item, predictions: Predictions, line: Prediction) -> dict[str, dict]:
    return {cell["name"].split()[0]: cell for cell in _row_cells(item, predictions, line)}


def titles(predictions: Predictions) -> list[str]:
    return [heading["title"] for heading in _headings(ITEMS, predictions)]


def test_a_row_says_what_was_given_and_what_was_answered():
    first, second, third = (cells(item, FOUND, line) for item, line in zip(ITEMS, LINES, strict=True))
    assert {name: cell["text"] for name, cell in first.items()} == {
        "number": "1",
        "input": "=1+1",
        "answer": "✗ positive",
        "label": "negative",
        "surprise": "1.39",
    }
    assert (first["answer"]["name"], first["answer"]["small"]) == ("answer wrong", "75.0\u2009%")
    assert first["answer"]["help"] == "wrong: not as labelled"
    assert (second["input"]["text"], second["input"]["small"]) == ("a b", "3 tokens left out")
    assert (second["label"]["text"], second["label"]["help"]) == ("? @x", "not a class of this encoder")
    assert third["answer"]["small"] == ">99.9\u2009%"
    assert (third["label"]["text"], third["label"]["help"]) == ("–", "no label")
    assert len(third["input"]["text"]) == MOST_CHARACTERS + 1
    right = cells(ITEMS[0], FOUND, replace(LINES[0], label=1))["answer"]
    assert (right["name"], right["text"], right["help"]) == ("answer right", "✓ positive", "as labelled")
    assert titles(FOUND) == ["", "input", "answer", "label", "loss (nats)"]


def test_a_text_without_a_label_has_no_loss():
    losses = [cells(item, FOUND, line)["surprise"] for item, line in zip(ITEMS, LINES, strict=True)]
    assert [cell["text"] for cell in losses] == ["1.39", "–", "–"]
    assert losses[1]["help"] == "no label, so no loss"
    result = replace(FOUND, surprise="entropy", lines=LINES[1:])
    assert cells(ITEMS[1], result, LINES[1])["surprise"]["text"] == "0.69"
    assert titles(result) == ["", "input", "answer", "uncertainty (nats)"]


def test_the_share_of_unknown_tokens_has_a_column_where_there_are_some():
    assert "share_of_unknown_tokens" not in as_csv(ITEMS, FOUND, LINES).decode()
    result = replace(FOUND, lines=(*LINES[:2], replace(LINES[2], unknown=0.25)))
    assert titles(result) == [
        "",
        "input",
        "unknown tokens",
        "answer",
        "label",
        "loss (nats)",
    ]
    shown = [
        cells(item, result, line)["unknown"]["text"] for item, line in zip(ITEMS, result.lines, strict=True)
    ]
    assert shown == ["0.0\u2009%", "0.0\u2009%", "25.0\u2009%"]
    table = pd.read_csv(io.BytesIO(as_csv(ITEMS, result, result.lines)))
    assert table["share_of_unknown_tokens"].tolist() == [0, 0, 0.25]


def test_a_picture_travels_small():
    item = Item(name="a.png", colours=Picture.of(np.zeros((400, 512, 3), np.uint8)))
    cell = cells(item, FOUND, LINES[2])["input"]
    assert cell["text"] == "a.png"
    assert cell["picture"].startswith("data:image;base64,")
    assert len(cell["picture"]) < 5000


def test_states_are_compared_with_each_other():
    line = Prediction(number=1, answer="8 numbers", nearest=0, surprise=0.25)
    result = Predictions(lines=(line,), surprise="distance", explanation="")
    assert titles(result) == ["", "input", "most similar", "distance"]
    row = cells(ITEMS[1], result, line)
    assert (row["answer"]["text"], row["surprise"]["text"]) == ("number 1", "0.250")
    table = pd.read_csv(io.BytesIO(as_csv(ITEMS, result, [line])))
    assert table.loc[0, ["most_like_it", "distance"]].tolist() == [1, 0.25]


def test_the_file_holds_everything_and_no_formula():
    table = pd.read_csv(io.BytesIO(as_csv(ITEMS, FOUND, LINES[::-1])), keep_default_na=False)
    assert table["number"].tolist() == [3, 2, 1]
    assert table["text"].tolist() == ["y" * 900, "a\nb", "'=1+1"]
    assert table["label"].tolist() == ["", "'@x", "negative"]
    assert table["answer"].tolist() == ["positive", "'-odd", "positive"]
    assert table["right"].tolist() == ["", "", "no"]
    assert table["loss_nats"].tolist() == ["", "", "1.386"]
    assert table["entropy_nats"].tolist() == ["0.0", "0.693", ""]
    assert table["tokens_left_out"].tolist() == [0, 3, 0]


@pytest.mark.parametrize("sign", FORMULA_SIGNS)
def test_no_cell_of_others_begins_as_a_formula(sign):
    item = Item(name=f"{sign}cmd.png", label=f"{sign}x", digit=0)
    content = as_csv([item], FOUND, [Prediction(number=0, answer=f"{sign}y")])
    table = pd.read_csv(io.BytesIO(content), keep_default_na=False)
    assert table.loc[0, ["file", "label", "answer"]].str.startswith("'").all()
