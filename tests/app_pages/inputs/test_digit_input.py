import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app_pages.controls.input_controls import AS_THEY_COME, CHECKPOINT, DISAGREE, HARDEST, KIND, SOURCE
from app_pages.controls.pages import ATTENTION
from app_pages.inputs.digit_input import ordered, take_digit
from app_pages.subject import cache
from model.inputs import digits
from tests.app_pages.shown_subject import subject_of

LABELS = np.array([7, 2, 1, 7], np.uint8)
FIRST = {"predicted": np.array([7, 2, 4, 1], np.uint8), "loss": np.array([0.1, 0.2, 3, 5], np.float32)}
SECOND = {"predicted": np.array([7, 3, 4, 7], np.uint8), "loss": np.array([0.1, 9, 3, 0.1], np.float32)}


@pytest.mark.parametrize(
    ("digit_class", "order", "predictions", "ids", "captions"),
    [
        ("all", AS_THEY_COME, [], [0, 1, 2, 3], ["7", "2", "1", "7"]),
        ("7", AS_THEY_COME, [], [0, 3], ["7", "7"]),
        ("5", AS_THEY_COME, [], [], []),
        ("all", HARDEST, [FIRST], [3, 2, 1, 0], ["7→1", "1→4", "2→2", "7→7"]),
        ("7", HARDEST, [FIRST], [3, 0], ["7→1", "7→7"]),
        ("all", DISAGREE, [FIRST, SECOND], [1, 3], ["2→2|3", "7→1|7"]),  # the more lossy comes first
    ],
)
def test_digits_are_listed_in_order_and_say_what_was_predicted(
    digit_class, order, predictions, ids, captions
):
    numbers, texts = ordered(LABELS, digit_class, order, predictions)
    assert (numbers.tolist(), texts) == (ids, captions)


def offered(app: AppTest) -> list[str]:
    assert not app.exception
    return app.selectbox(key="digit_order").options


def test_orders_are_offered_where_the_predictions_are_there(open_app, checkpoints):
    assert offered(open_app(ATTENTION, KIND.to("Digit"))) == [AS_THEY_COME, HARDEST, DISAGREE]
    (checkpoints / "mnist-pre-ln" / "predictions.safetensors").unlink()
    cache.clear()  # nothing else of the checkpoint has changed
    assert offered(open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-post-ln"))) == [
        AS_THEY_COME,
        HARDEST,
    ]
    assert offered(open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-pre-ln"))) == [AS_THEY_COME]


def test_an_order_that_another_checkpoint_lacks_is_left(open_app, checkpoints):
    (checkpoints / "mnist-pre-ln" / "predictions.safetensors").unlink()
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-post-ln"))
    app.selectbox(key="digit_order").select(HARDEST).run()
    app.selectbox(key="checkpoint").select("mnist-pre-ln").run()
    assert offered(app) == [AS_THEY_COME]
    assert app.selectbox(key="digit_order").value == AS_THEY_COME


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("order", [HARDEST, DISAGREE])
@pytest.mark.parametrize("digit_class", ["all", "3"])
def test_the_gallery_shows_every_order_and_class(open_app, order, digit_class):
    app = open_app(ATTENTION, KIND.to("Digit"))
    app.pagination(key="gallery_page").set_value(3).run()
    app.selectbox(key="digit_order").select(order)
    app.selectbox(key="digit_class").select(digit_class).run()
    assert not app.exception
    assert app.pagination(key="gallery_page").value == 1


def test_captions_with_predictions_are_explained(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"), CHECKPOINT.to("mnist-post-ln"))
    legends = []
    for order in (AS_THEY_COME, HARDEST, DISAGREE):
        app.selectbox(key="digit_order").select(order).run()
        legends += [[caption.value for caption in app.caption if "Below each" in caption.value]]
    assert legends == [
        [],
        ["Below each: its label → what mnist-post-ln said"],
        ["Below each: its label → what mnist-pre-ln | mnist-post-ln said"],
    ]


def test_a_class_without_disagreement_says_so(open_app, checkpoints):
    predictions = (checkpoints / "mnist-pre-ln" / "predictions.safetensors").read_bytes()
    (checkpoints / "mnist-post-ln" / "predictions.safetensors").write_bytes(predictions)
    app = open_app(ATTENTION, KIND.to("Digit"))
    app.selectbox(key="digit_order").select(DISAGREE).run()
    assert not app.exception
    assert any("No such digit" in info.value for info in app.info)


def test_the_number_chooses_the_digit(open_app):
    app = open_app(ATTENTION, KIND.to("Digit"))
    app.number_input(key="digit").set_value(1).run()
    assert not app.exception
    assert subject_of(app).label == 2


def test_a_click_in_the_gallery_chooses_the_digit(monkeypatch):
    monkeypatch.setattr(st, "session_state", {"digit": 0})
    take_digit({"id": 5.0})
    assert st.session_state == {"digit": 5}


def test_without_test_digits_one_can_still_be_drawn(open_app, tmp_path, monkeypatch):
    monkeypatch.setattr(digits, "EXAMPLES", tmp_path)
    cache.clear()
    app = open_app(ATTENTION, KIND.to("Digit"))
    assert not app.exception
    assert ["cannot be read" in block.value for block in app.warning] == [True]
    app = open_app(ATTENTION, KIND.to("Digit"), SOURCE.to("Draw"))
    assert not app.exception
    assert not app.warning
