"""What of a text the tokenizer does not know is said, and characters are separated where that helps."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from tokenizers import processors

from app_pages.controls.address import LONGEST
from app_pages.controls.input_controls import CHECKPOINT, SECOND_PART, TEXT
from app_pages.controls.pages import ATTENTION, COMPARE
from model import checkpoint
from tests.model import tiny
from tests.model.huggingface.folders import build

BUTTON = "Separate the characters"


@pytest.fixture
def proteins(checkpoints: Path) -> str:
    """The name of an encoder that knows single letters alone."""
    model = tiny.build(replace(tiny.TEXT, n_positions=40))
    checkpoint.save(checkpoints / "proteins", model, {}, tiny.amino_acids(40))
    return "proteins"


def sentences(app: AppTest) -> list[str]:
    assert not app.exception
    return [caption.value for caption in app.caption if "unknown to this encoder" in caption.value]


def answers(app: AppTest) -> list[str]:
    """What stands where the answer stands."""
    return [block.proto.body for block in app.get("html") if 'class="answer"' in block.proto.body]


def buttons(app: AppTest) -> list[str]:
    return [button.label for button in app.button if button.label == BUTTON]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("great film", []),
        ("☃ film", ["1 of 2 tokens is unknown to this encoder."]),
    ],
)
def test_unknown_tokens_are_said(open_app, text, expected):
    app = open_app(ATTENTION, TEXT.to(text))
    assert sentences(app) == expected
    assert not buttons(app)
    assert "unknown" not in answers(app)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("☃ ☃ film", "2 of 3 tokens are unknown to this encoder"),
        ("☃", "1 of 1 token is unknown to this encoder"),
    ],
)
def test_where_most_are_unknown_that_stands_in_place_of_the_answer(open_app, text, expected):
    app = open_app(ATTENTION, TEXT.to(text))
    assert not sentences(app)  # not twice
    assert re.match(f'<div class="answer"><b>{expected}</b><small> (negative|positive) ', answers(app)[0])
    count = expected.partition(" to this")[0].replace(" are ", " ").replace(" is ", " ")
    assert any(f"<b>{count}</b>." in block.proto.body for block in app.get("html"))  # below the title


def test_characters_are_separated_by_one_press(open_app, proteins):
    app = open_app(ATTENTION, CHECKPOINT.to(proteins), TEXT.to("MKV[MASK]L"))
    assert sentences(app) == ["1 of 3 tokens is unknown to this encoder."]
    app.button(key="separate_text").click().run()
    assert app.text_area(key="text").value == "M K V [MASK] L"
    assert not sentences(app)
    assert not buttons(app)


def test_what_separating_does_not_mend_is_said_without_the_button(open_app, proteins):
    app = open_app(ATTENTION, CHECKPOINT.to(proteins), TEXT.to("M K ☃"))
    assert sentences(app) == ["1 of 3 tokens is unknown to this encoder."]
    assert not buttons(app)


def test_a_text_that_grows_beyond_the_box_keeps_its_beginning(open_app, proteins):
    app = open_app(ATTENTION, CHECKPOINT.to(proteins), TEXT.to("MK" * 1000))
    app.button(key="separate_text").click().run()
    assert not app.exception
    assert app.text_area(key="text").value == ("M K " * 1000)[:LONGEST]


def test_both_parts_are_separated(open_app, checkpoints):
    build(checkpoints / "pairs", "BertForSequenceClassification", vocab_size=25)
    made = tiny.amino_acids(40)
    made.post_processor = pair_processor()
    made.save(str(checkpoints / "pairs" / "tokenizer.json"))
    app = open_app(ATTENTION, CHECKPOINT.to("pairs"), TEXT.to("MKV"), SECOND_PART.to("LA"))
    assert "2 of 2 tokens are unknown to this encoder" in answers(app)[0]
    app.button(key="separate_text").click().run()
    assert (app.text_area(key="text").value, app.text_area(key="second").value) == ("M K V", "L A")
    assert not sentences(app)


def pair_processor() -> processors.TemplateProcessing:
    return processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )


def test_each_of_two_texts_has_its_own_button(open_app, proteins):
    chosen = {"compare_what": "two inputs", "compare_text": "MLV", "text": "MKV"}
    app = open_app(COMPARE, CHECKPOINT.to(proteins), **chosen)
    message = "1 of 1 token is unknown to this encoder."
    assert sentences(app) == [message, f"In the second text {message}"]
    app.button(key="separate_compare_text").click().run()
    assert app.text_area(key="compare_text").value == "M L V"
    assert app.text_area(key="text").value == "MKV"
    assert sentences(app) == [message]


def test_of_two_encoders_each_is_said(open_app, proteins):
    chosen = {"checkpoint": "imdb-pre-ln", "compare_with": proteins, "text": "great film"}
    app = open_app("app_pages/compare/page.py", **chosen)
    assert sentences(app) == ["proteins: 2 of 2 tokens are unknown to this encoder."]
    assert not buttons(app)
