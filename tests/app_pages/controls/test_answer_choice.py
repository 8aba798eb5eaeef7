"""What counts as the answer on Heads: log P of a word in place of [MASK], or what the encoder says of the whole input."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app_pages.subject import cache
from model.capture import capture
from model.experiments.ablation import ablate_heads, ablated
from model.experiments.masked_word import MaskedWord, guesses, masked_word
from model.experiments.patching import patch_feed_forwards, patch_heads, patch_positions
from model.experiments.probabilities import probabilities
from tests.app_pages.charts import table as table_of
from tests.app_pages.shown_text import headline, joined_captions
from tests.model.huggingface.folders import build
from viz.builders.number_format import stage_names
from viz.heads.part_grids import FEED_FORWARD

Open = Callable[..., AppTest]
PAGE = "app_pages/heads/page.py"
TEXT, OTHER, ENCODER = "not [MASK] film", "great [MASK] film", "imdb-pre-ln"
CHANGE = "change of log P"
MASKED = {"answer_of": "masked word"}


@pytest.fixture
def open_heads(open_app: Open) -> Open:
    defaults = {"text": TEXT, "checkpoint": ENCODER, "heads_part": "Ablate"}
    return lambda **query: open_app(PAGE, **defaults | query)


def log_p(word: MaskedWord, *interventions, text: str = TEXT) -> np.ndarray:
    return probabilities(cache.loaded(ENCODER), [text], interventions or (ablated(),), word)[0, :, 0]


def minus(number: str) -> str:
    return number.replace("-", "−")


def test_each_part_alone_changes_log_p_of_the_first_guess(open_heads):
    app = open_heads(**MASKED)
    loaded = cache.loaded(ENCODER)
    word = masked_word(loaded, TEXT)
    (before,) = log_p(word)
    rows = table_of(app, "fall of log P", "layer", "column", "value").set_index("name")
    heads = before - ablate_heads(loaded, [TEXT], answer=word)[0, ..., 0]
    for layer, head in np.ndindex(2, 2):
        assert rows.loc[f"L{layer} H{head}", "value"] == pytest.approx(heads[layer, head], rel=1e-4, abs=1e-6)
    wholes = before - log_p(word, ablated(layers=[1]), ablated(feed_forwards=[0]))
    np.testing.assert_allclose(rows.loc[["L1 attn", "L0 FF"], "value"], wholes, rtol=1e-4, atol=1e-6)
    (guessed,) = guesses(loaded, TEXT).values()
    assert f"log P(“{guessed[0].token}” at [MASK]) is {minus(f'{before:+.3f}')} nats" in headline(app)


def test_what_is_taken_away_changes_log_p_of_a_chosen_word(open_heads):
    app = open_heads(**MASKED, answer_word="great", ablated="h0-1.f1.p1")
    word = masked_word(cache.loaded(ENCODER), TEXT, "great")
    old, new = log_p(word, ablated(), ablated([(0, 1)], feed_forwards=[1], positions=[1]))
    direction = "falls" if new < old else "rises"
    sentence = headline(app)
    assert f"log P(“great” at [MASK]) {direction}: from {minus(f'{old:+.3f} to {new:+.3f}')} nats" in sentence
    assert minus(f"{new - old:+.3f} nats") in sentence
    shares = f"P {np.exp(old):.2%} before, {np.exp(new):.2%} after".replace("%", "\u2009%")
    assert shares in sentence


def test_of_several_masked_tokens_one_is_chosen(open_heads):
    text = "[MASK] film [MASK]"
    app = open_heads(**MASKED, text=text, answer_word="great", answer_mask="2")
    word = masked_word(cache.loaded(ENCODER), text, "great", 3)
    assert f"log P(“great” at 3 [MASK]) is {minus(f'{log_p(word, text=text)[0]:+.3f}')} nats" in headline(app)


def test_a_word_of_two_tokens_gives_one_sentence_and_the_first_guess(open_heads):
    app = open_heads(**MASKED, answer_word="great film")
    assert "“great film” is 2 tokens, great film\\: choose a word of one token." in joined_captions(app)
    assert "The first guess is taken instead." in joined_captions(app)
    (guessed,) = guesses(cache.loaded(ENCODER), TEXT).values()
    assert f"log P(“{guessed[0].token}” at [MASK])" in headline(app)


def test_the_class_is_the_answer_at_first_and_where_nothing_is_masked(open_heads):
    assert table_of(open_heads(), "fall of the log-odds", "layer", "column", "value") is not None
    app = open_heads(text="not great film")
    assert "answer_of" not in [group.key for group in app.get("button_group")]
    assert "the encoder says" in headline(app)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", ["Ablate", "Patch"])
def test_an_encoder_without_classes_begins_with_the_masked_word(open_heads, checkpoints, part):
    build(checkpoints / "masked", "BertForMaskedLM")
    app = open_heads(checkpoint="masked", text="the film is [MASK] bad .", heads_part=part)
    assert "log P(“" in headline(app)


def test_patched_heads_and_states(open_heads):
    app = open_heads(**MASKED, heads_part="Patch", patch_text=OTHER, answer_word="great")
    loaded = cache.loaded(ENCODER)
    word = masked_word(loaded, TEXT, "great")
    (before,), (second,) = log_p(word), log_p(word, text=OTHER)
    rows = table_of(app, CHANGE, "layer", "column", "value").sort_values(["layer", "column"])
    heads = rows[rows["part"] != FEED_FORWARD]["value"]
    expected = patch_heads(loaded, TEXT, OTHER, word).ravel() - before
    np.testing.assert_allclose(heads, expected, rtol=1e-4, atol=1e-6)
    feed_forwards = rows[rows["part"] == FEED_FORWARD]["value"]
    expected = patch_feed_forwards(loaded, TEXT, OTHER, word).ravel() - before
    np.testing.assert_allclose(feed_forwards, expected, rtol=1e-4, atol=1e-6)
    states = table_of(app, "Effect on", "stage", "position", "value")
    stages = {stage: number for number, stage in enumerate(stage_names(capture(loaded, TEXT).stages))}
    answers = patch_positions(loaded, TEXT, OTHER, word)[..., 0] - before
    for row in states.itertuples():
        assert row.value == pytest.approx(answers[stages[row.stage], row.position], rel=1e-3, abs=1e-5)
    assert minus(f"the difference of {second - before:+.3f} nats") in headline(app)


def test_a_second_text_without_a_masked_token_is_told(open_heads):
    app = open_heads(**MASKED, heads_part="Patch", patch_text="great great film")
    assert "the second has no [MASK] at that position to compare with" in headline(app)
