"""Stream and representations: the parts of the page that go through the stages of both sides."""

from dataclasses import replace

import pytest

from app_pages.subject.subject import LiveSubject
from tests.app_pages.compare.test_page import TEXT, descriptions, put
from tests.app_pages.shown_text import page_text
from tests.model import tiny

# The stream


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["Text", "Digit"])
@pytest.mark.parametrize(
    ("shown", "begins"),
    [
        ("norms", "mean length of the states, over 5 stages"),
        ("shares", "share of the sublayer, over 4 stages"),
        ("answer by layer", "{}-pre-ln: logits of"),
        ("answer by part", "What each of 9 parts adds to the logit of"),
        ("spread of the tokens", "relative distance from the mean state, over 5 stages"),
        ("cosines", "mean cosine of 5 stages"),
    ],
)
def test_the_stream_of_both(open_compare, kind, shown, begins):
    app = open_compare(kind=kind, compare_part="Stream", compare_stream=shown)
    begins = begins.format({"Text": "imdb", "Digit": "mnist"}[kind])
    assert any(message.startswith(begins) for message in descriptions(app))


def test_one_answer_of_both_sides_is_said_once(open_compare):
    query = {"checkpoint": "imdb-pre-ln", "compare_part": "Stream", "compare_stream": "answer by layer"}
    message = page_text(open_compare(compare_what="two inputs", text=TEXT, compare_text=TEXT, **query))
    record = LiveSubject("imdb-pre-ln", TEXT).record
    assert f"Both predict **{record.class_names[record.logits.argmax()]}**" in message


def test_the_stream_of_encoders_of_other_depth(open_compare, checkpoints):
    put(checkpoints, "imdb-pre-ln", replace(tiny.TEXT, n_layers=3))
    for shown in ("norms", "shares", "answer by layer", "answer by part", "spread of the tokens", "cosines"):
        assert not open_compare(compare_part="Stream", compare_stream=shown).exception


# Representations


def test_the_representations_say_what_was_used(open_compare):
    app = open_compare(kind="Digit", compare_part="Stream", compare_stream="representations")
    assert "CKA of 5 stages of mnist-pre-ln and 5 of mnist-post-ln" in descriptions(app)
    assert "the first 300 test digits, the class token of each" in page_text(app)
    assert "A dash: all examples have the same state" in page_text(app)  # the class token before any layer
    app = open_compare(text=TEXT, compare_part="Stream", compare_stream="representations")
    assert "CKA of 5 stages of imdb-pre-ln and 5 of imdb-post-ln" in descriptions(app)
    assert "tokens of the 14 example sentences and of what was typed" in page_text(app)
    assert "A dash" not in page_text(app)


def test_of_texts_cut_differently_the_words_that_both_read_are_compared(open_compare, checkpoints):
    put(checkpoints, "short", replace(tiny.TEXT, n_positions=6))
    app = open_compare(
        checkpoint="imdb-pre-ln",
        compare_with="short",
        compare_part="Stream",
        compare_stream="representations",
    )
    assert not app.exception
    assert not app.info
    assert "The tokens differ: compared by words" in page_text(app)
    assert "words that only one encoder reads are left out" in page_text(app)
    assert "words and special tokens of the 14 example sentences" in page_text(app)
    assert "CKA of 5 stages of imdb-pre-ln and 5 of short" in descriptions(app)
