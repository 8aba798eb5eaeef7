from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject import cache
from model.capture import capture
from model.experiments.patching import patch_feed_forwards, patch_heads, patch_positions
from model.measures.changes import class_changes
from tests.app_pages.charts import table as table_of
from tests.app_pages.shown_text import page_text
from viz.builders.number_format import stage_names

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
TEXT, ENCODER = "not great film", "imdb-pre-ln"
PARTS, STATES = "change of the log-odds", "Effect on"


@pytest.fixture
def open_patch(open_app: Open) -> Open:
    defaults = {"text": TEXT, "checkpoint": ENCODER, "heads_part": "Patch"}
    return lambda **query: open_app(PAGE, **defaults | query)


def drawn_parts(app: AppTest) -> np.ndarray:
    """The effects that the grid shows, [layer, part]."""
    rows = table_of(app, PARTS, "layer", "column", "value").sort_values(["layer", "column"])
    return rows["value"].to_numpy().reshape(rows["layer"].nunique(), -1)


def expected_parts(second: str, part: str) -> np.ndarray:
    """The change of the log-odds with the part of each head, and with each feed-forward, of the second text."""
    loaded = cache.loaded(ENCODER)
    record = capture(loaded, TEXT)
    heads = patch_heads(loaded, TEXT, second, "logits", part=part)
    answers = np.concatenate((heads, patch_feed_forwards(loaded, TEXT, second, "logits")[:, None]), axis=1)
    changes = class_changes(record, answers.reshape(-1, answers.shape[-1]), int(record.logits.argmax()))
    return changes.reshape(answers.shape[:2])


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("second", ["a great film", "great film", "not bad film"])
def test_parts_and_states_have_their_effects(open_patch, second):
    app = open_patch(patch_text=second)
    loaded = cache.loaded(ENCODER)
    record = capture(loaded, TEXT)
    label = int(record.logits.argmax())
    np.testing.assert_allclose(drawn_parts(app), expected_parts(second, "z"), rtol=1e-4, atol=1e-6)
    states = table_of(app, STATES, "stage", "position", "value")
    stages = {stage: number for number, stage in enumerate(stage_names(record.stages))}
    answers = patch_positions(loaded, TEXT, second, "logits")
    for row in states.itertuples():
        answer = answers[stages[row.stage], row.position]
        if np.isnan(answer).any():
            assert row.exact == "no partner"
        else:
            assert row.value == pytest.approx(
                class_changes(record, answer[None], label)[0], rel=1e-3, abs=1e-5
            )


def test_it_begins_with_one_word_changed(open_patch):
    app = open_patch()
    assert app.text_area(key="patch_text").value == "very great film"
    assert "5 tokens and 8" in page_text(app)  # the tiny tokenizer has no piece for "very"
    app.text_area(key="text").set_value("the best film").run()
    assert app.text_area(key="patch_text").value == "the worst film"


def test_a_second_text_of_ones_own_stays(open_patch):
    app = open_patch()
    app.text_area(key="patch_text").set_value("great").run()
    app.text_area(key="text").set_value("the best film").run()
    assert app.text_area(key="patch_text").value == "great"


def test_without_a_second_text_it_asks_for_one(open_patch):
    app = open_patch(patch_text=" ")
    assert "Type a second text" in page_text(app)


def test_digits(open_patch):
    app = open_patch(kind="Digit", checkpoint="mnist-pre-ln", patch_digit="3")
    assert "paired one by one" in page_text(app)
    assert len(table_of(app, STATES, "stage", "position", "value")) == 5 * 5


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("taken", "part"), [("queries q", "q"), ("keys k", "k"), ("values v", "v")])
def test_queries_keys_and_values_can_be_taken(open_patch, taken, part):
    app = open_patch(patch_part=taken, patch_text="a great film")
    np.testing.assert_allclose(drawn_parts(app), expected_parts("a great film", part), rtol=1e-4, atol=1e-6)
    assert f"its {taken.partition(' ')[0]} of the second text" in page_text(app)


def test_a_share_of_the_way_is_1_at_the_end(open_patch):
    """The classifier reads [CLS] of the last stage alone: with all of it patched, the answer is the second one."""
    app = open_patch(patch_effect="share of the way", patch_text="a great film")
    rows = table_of(app, STATES, "stage", "position", "value").set_index(["stage", "position"])["value"]
    last = stage_names(capture(cache.loaded(ENCODER), TEXT).stages)[-1]
    assert rows[last, 0] == pytest.approx(1, abs=1e-4)
    assert rows[last, 1] == pytest.approx(0, abs=1e-4)
    other = capture(cache.loaded(ENCODER), "a great film").logits
    record = capture(cache.loaded(ENCODER), TEXT)
    whole = class_changes(record, other[None], int(record.logits.argmax()))
    rows = table_of(app, "share of the way", "layer", "column", "value").sort_values(["layer", "column"])
    expected = expected_parts("a great film", "z").ravel() / whole
    np.testing.assert_allclose(rows["value"], expected, rtol=1e-3, atol=1e-5)


def test_equal_answers_have_no_share_and_no_figure(open_patch):
    app = open_patch(patch_effect="share of the way", patch_text=TEXT)
    assert "too little to divide by" in page_text(app)
    assert not app.get("vega_lite_chart") + app.get("arrow_vega_lite_chart")
