from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject import cache
from model.capture import capture
from model.experiments.patching import patch_heads, patch_positions
from model.measures.changes import class_changes
from tests.app_pages.charts import table as table_of

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
TEXT, ENCODER = "not great film", "imdb-pre-ln"
HEADS, STATES = "change of the log-odds", "Effect on"


@pytest.fixture
def open_patch(open_app: Open) -> Open:
    defaults = {"text": TEXT, "checkpoint": ENCODER, "heads_part": "Patch"}
    return lambda **query: open_app(PAGE, **defaults | query)


def said(app: AppTest) -> str:
    assert not app.exception
    bodies = [each.proto.body for each in app.get("html")]
    return " ".join([*bodies, *(each.value for each in (*app.caption, *app.info))])


@pytest.mark.parametrize("second", ["a great film", "great film", "not bad film"])
def test_heads_and_states_have_their_effects(open_patch: Open, second: str) -> None:
    app = open_patch(patch_text=second)
    loaded = cache.loaded(ENCODER)
    record = capture(loaded, TEXT)
    at = int(record.logits.argmax())
    heads = table_of(app, HEADS, "layer", "head", "value").sort_values(["layer", "head"])["value"]
    expected = class_changes(record, patch_heads(loaded, TEXT, second).reshape(4, -1), at)
    np.testing.assert_allclose(heads, expected, rtol=1e-4, atol=1e-6)
    states = table_of(app, STATES, "stage", "position", "value")
    stages = {stage: number for number, stage in enumerate(record.stages)}
    answers = patch_positions(loaded, TEXT, second)
    for row in states.itertuples():
        answer = answers[stages[row.stage], row.position]
        if np.isnan(answer).any():
            assert row.exact == "no partner"
        else:
            assert row.value == pytest.approx(class_changes(record, answer[None], at)[0], rel=1e-3, abs=1e-5)


def test_it_begins_with_one_word_changed(open_patch: Open) -> None:
    app = open_patch()
    assert app.text_area(key="patch_text").value == "very great film"
    assert "5 tokens and 8" in said(app)  # the tiny tokenizer has no piece for "very"
    app.text_area(key="text").set_value("the best film").run()
    assert app.text_area(key="patch_text").value == "the worst film"


def test_a_second_text_of_ones_own_stays(open_patch: Open) -> None:
    app = open_patch()
    app.text_area(key="patch_text").set_value("great").run()
    app.text_area(key="text").set_value("the best film").run()
    assert app.text_area(key="patch_text").value == "great"


def test_other_lengths_are_said(open_patch: Open) -> None:
    app = open_patch(patch_text="great film")
    assert "5 tokens and 4" in said(app)
    assert "1 of the first have no partner" in said(app)


def test_without_a_second_text_it_asks_for_one(open_patch: Open) -> None:
    app = open_patch(patch_text=" ")
    assert "Type a second text" in said(app)


def test_digits(open_patch: Open) -> None:
    app = open_patch(kind="Digit", checkpoint="mnist-pre-ln", patch_digit="3")
    assert "each of which is paired with the same one" in said(app)
    assert len(table_of(app, STATES, "stage", "position", "value")) == 5 * 5
