"""A list of inputs in the session, and which of them the row of the input shows."""

from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

from app_pages.controls.input_controls import DIGIT, DRAW, OWN_PICTURE, SECOND_PART, SOURCE, TEST_DIGITS, TEXT
from app_pages.controls.input_controls import DRAWING as DRAWING_CODE
from app_pages.inputs.drawing.code import BLANK, to_code
from app_pages.inputs.input_list import InputList, Item, entered, keep_list, open_item, right_class
from app_pages.inputs.own_picture import HELD
from app_pages.subject import encoders
from model.inputs import Picture, Text
from tests.model import tiny

DRAWING = BLANK.copy()
DRAWING[5:20, 12:16] = 255
PHOTO = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
COLOURED = replace(tiny.DIGIT, n_channels=3)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict:
    held: dict = {}
    monkeypatch.setattr(st, "session_state", held)
    monkeypatch.setattr(st, "query_params", {})
    return held


def use(monkeypatch: pytest.MonkeyPatch, config: object) -> None:
    monkeypatch.setattr(encoders, "config_of", lambda _name: config)


def test_a_text_is_opened_with_its_second_part(session, monkeypatch):
    use(monkeypatch, tiny.TEXT)
    keep_list("Text", InputList(items=(Item(text=Text("a", "b")), Item(text=Text("c")))))
    assert open_item("Text", 0, "any") == [TEXT.to("a"), SECOND_PART.to("b")]
    assert open_item("Text", 1, "any") == [TEXT.to("c")]
    assert (session["text"], session["second"]) == ("c", "")
    assert entered("Text").opened == 1
    keep_list("Text", None)
    assert entered("Text").listed is None
    assert entered("Text").opened is None


def test_only_encoders_of_pairs_are_given_the_second_part():
    item = Item(text=Text("a", "b"))
    assert item.as_input(tiny.TEXT, reads_pairs=False) == Text("a")
    assert item.as_input(tiny.TEXT, reads_pairs=True) == Text("a", "b")


def test_a_picture_is_opened_as_the_encoder_takes_it(session, monkeypatch):
    item = Item(name="a.png", drawing=to_code(DRAWING), colours=Picture.of(PHOTO))
    keep_list("Digit", InputList(items=(item, Item(digit=12, label="3"))))
    use(monkeypatch, tiny.DIGIT)
    assert open_item("Digit", 0, "any") == [SOURCE.to(DRAW), DRAWING_CODE.to(to_code(DRAWING))]
    np.testing.assert_array_equal(item.as_input(tiny.DIGIT, reads_pairs=False).array, DRAWING)
    assert session["drawing"] == to_code(DRAWING)
    assert open_item("Digit", 1, "any") == [SOURCE.to(TEST_DIGITS), DIGIT.to(12)]
    assert session["digit"] == 12
    assert "drawing" not in st.query_params
    use(monkeypatch, COLOURED)
    assert open_item("Digit", 0, "any") == [SOURCE.to(OWN_PICTURE)]
    np.testing.assert_array_equal(session[HELD], PHOTO)
    assert item.as_input(COLOURED, reads_pairs=False) == Picture.of(PHOTO)


@pytest.mark.usefixtures("session")
def test_the_label_is_known_as_long_as_the_input_is_that_of_the_list(monkeypatch):
    use(monkeypatch, tiny.TEXT)
    labels = ("Positive", "0", "", "happy")
    keep_list("Text", InputList(items=tuple(Item(text=Text("a"), label=label) for label in labels)))
    assert right_class("Text", "any", Text("a")) is None  # nothing was opened yet
    for number, expected in enumerate((1, 0, None, None)):
        open_item("Text", number, "any")
        assert right_class("Text", "any", Text("a")) == expected
    open_item("Text", 0, "any")
    assert right_class("Text", "any", Text("changed")) is None
    assert right_class("Text", "any", None) is None
    use(monkeypatch, replace(tiny.TEXT, class_names=()))
    assert right_class("Text", "any", Text("a")) is None


@pytest.mark.usefixtures("session")
def test_each_kind_has_a_list_of_its_own():
    keep_list("Text", InputList(items=(Item(text=Text("a")),)))
    keep_list("Digit", InputList(items=(Item(digit=1),)))
    entered("Text").order = [0]
    keep_list("Digit", None)
    assert entered("Text").listed.items[0].text == Text("a")
