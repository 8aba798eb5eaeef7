from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from app_pages.subject import cache
from model import checkpoint
from model.capture import capture
from model.experiments.attribution import Similarity, gradient_times_input, integrated_gradients
from model.experiments.knock_out import knock_out, log_odds_falls, removable_positions
from model.experiments.masked_word import masked_word
from model.experiments.probabilities import probabilities
from model.measures.changes import cosine_distance
from tests.app_pages.linked import captions, linked
from tests.app_pages.shown_subject import subject_of
from tests.model import tiny

TEXT = "not great film a b x"
METHODS = {"gradient × input": gradient_times_input, "integrated gradients": integrated_gradients}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("method", METHODS)
def test_tokens_have_the_colours_of_the_attribution(open_app, method):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", attribution=method)
    loaded = cache.loaded("imdb-pre-ln")
    attributed, record = METHODS[method](loaded, TEXT), capture(loaded, TEXT)
    hidden = linked(app).data["hidden"]
    np.testing.assert_allclose(hidden["effects"], attributed.values, atol=1e-6)
    name = record.class_names[record.logits.argmax()]
    assert hidden["words"][0] == f"{method}: not measured"  # the class token
    assert hidden["words"][1] == f"{method}: {attributed.values[1]:+.3f} log-odds of {name}"
    assert f"The sum is {attributed.total:.4f}".replace("-", "−").lower() in captions(app).lower()
    assert ("Complete: the sum" in captions(app)) == (method == "integrated gradients")

    positions = list(removable_positions(record))
    effects = log_odds_falls(record, knock_out(loaded, TEXT, answer="logits"))
    expected = f"{stats.spearmanr(attributed.values[positions], effects).statistic:.2f}".replace("-", "−")
    (line,) = (block.value for block in app.markdown if block.value.startswith(method.capitalize()))
    assert "this attribution show" in line.lower()
    assert f"Spearman {expected} over 7 tokens" in line or "deletion" in line or "cannot be told" in line


def test_knock_out_comes_first_and_the_choice_is_drawn(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln")
    assert app.segmented_control(key="attribution").value == "knock-out"
    assert linked(app).data["coloured_by"] == "attention"
    assert "The sum is" not in captions(app)
    app.segmented_control(key="attribution").set_value("gradient × input").run()
    assert linked(app).data["coloured_by"] == "answer"


def test_patches_of_a_digit(open_app):
    app = open_app(kind="Digit", checkpoint="mnist-post-ln", attribution="integrated gradients")
    subject = subject_of(app)
    values = integrated_gradients(subject.loaded, subject.model_input).values
    np.testing.assert_allclose(linked(app).data["hidden"]["effects"], values, atol=1e-6)
    assert "fewer than 5 patches" in "".join(
        block.value for block in app.markdown if block.value.startswith("Integrated gradients")
    )


def test_of_the_class_that_the_lens_shows(open_app):
    record = capture(cache.loaded("imdb-pre-ln"), TEXT)
    other = int(record.logits.argmin())
    name = record.class_names[other]
    app = open_app(
        text=TEXT,
        checkpoint="imdb-pre-ln",
        lens="gradient × attention",
        lens_class=name,
        attribution="integrated gradients",
    )
    values = integrated_gradients(cache.loaded("imdb-pre-ln"), TEXT, other).values
    np.testing.assert_allclose(linked(app).data["hidden"]["effects"], values, atol=1e-6)
    assert f"“{name}”" in linked(app).data["hidden"]["note"]


def test_where_tokens_are_hidden_it_is_not_offered(open_app):
    app = open_app(text=TEXT, checkpoint="imdb-pre-ln", hide_special="true")
    assert "attribution" not in [control.key for control in app.segmented_control]
    assert linked(app).data["hidden"] is None


# Of a masked word

MASKED = "great film [MASK] a b x y"
OF_WORD = {"text": MASKED, "answer_of": "masked word", "answer_word": "not"}


@pytest.fixture
def filling(checkpoints: Path) -> str:
    """A checkpoint with a masked-token output, and without classes."""
    made = tiny.loaded(replace(tiny.TEXT, class_names=(), masked_token_output=True))
    checkpoint.save(checkpoints / "filling", made.model, {}, made.tokenizer)
    return "filling"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("method", METHODS)
def test_a_masked_word_is_attributed_to_the_other_tokens(open_app, filling, method):
    app = open_app(**OF_WORD, checkpoint=filling, attribution=method)
    loaded = cache.loaded(filling)
    word = masked_word(loaded, MASKED, "not")
    attributed, hidden = METHODS[method](loaded, MASKED, word), linked(app).data["hidden"]
    np.testing.assert_allclose(hidden["effects"], attributed.values, atol=1e-6)
    assert hidden["words"][3] == f"{method}: not measured"  # [MASK]
    assert hidden["words"][1] == f"{method}: {attributed.values[1]:+.3f} nats, log P(“not” at [MASK])"
    assert "Gold: speaks for “not” at [MASK]" in hidden["note"]
    assert f"The sum is {attributed.total:.4f}".replace("-", "−").lower() in captions(app).lower()
    assert "log P(“not” at" in captions(app)
    assert ("Complete: the sum" in captions(app)) == (method == "integrated gradients")
    positions = [1, 2, 4, 5, 6, 7, 8]
    before = probabilities(loaded, [MASKED], answer=word)[0, 0, 0]
    effects = before - knock_out(loaded, MASKED, positions=positions, answer=word)[:, 0]
    expected = f"{stats.spearmanr(attributed.values[positions], effects).statistic:.2f}".replace("-", "−")
    (line,) = (block.value for block in app.markdown if block.value.startswith(method.capitalize()))
    assert f"Spearman {expected} over 7 tokens" in line or "deletion" in line or "cannot be told" in line


# Of a similarity

OTHER = "film a not great"


def test_without_a_class_it_is_of_the_similarity_with_the_whole(open_app, filling):
    app = open_app(text=TEXT, checkpoint=filling, attribution="integrated gradients")
    attributed, hidden = integrated_gradients(cache.loaded(filling), TEXT), linked(app).data["hidden"]
    np.testing.assert_allclose(hidden["effects"], attributed.values, atol=1e-6)
    assert hidden["words"][1].endswith("cosine similarity with the whole")
    assert "Complete: the sum is" in captions(app)
    app.segmented_control(key="attribution").set_value("gradient × input").run()
    assert linked(app).data["hidden"]["words"][1].startswith("moves without it by: ")
    assert "its gradient is 0" in captions(app)
    assert not app.exception


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("method", METHODS)
def test_of_the_similarity_with_another_text(open_app, filling, method):
    app = open_app(text=TEXT, checkpoint=filling, attribution=method, similar_to=f" {OTHER} ")
    loaded = cache.loaded(filling)
    attributed, hidden = METHODS[method](loaded, TEXT, Similarity(OTHER)), linked(app).data["hidden"]
    np.testing.assert_allclose(hidden["effects"], attributed.values, atol=1e-6)
    assert hidden["words"][1].endswith(f"cosine similarity with “{OTHER}”")
    record, other = capture(loaded, TEXT), capture(loaded, OTHER)
    positions = list(removable_positions(record))
    answers = knock_out(loaded, TEXT)
    effects = cosine_distance(answers, other.pooled) - cosine_distance(record.pooled, other.pooled)
    expected = f"{stats.spearmanr(attributed.values[positions], effects).statistic:.3f}".replace("-", "−")
    (line,) = (block.value for block in app.markdown if block.value.startswith(method.capitalize()))
    assert f"Spearman {expected}" in line


def test_a_text_to_compare_with_that_cannot_be_read_is_told(open_app, filling):
    long = " ".join("abcdefghijklmnopq")
    app = open_app(text=TEXT, checkpoint=filling, attribution="integrated gradients", similar_to=long)
    assert "Of the text to compare with, not read: last" in captions(app)
    assert f"cosine similarity with “{long[:29].rstrip()}…”" in linked(app).data["hidden"]["words"][1]
