import math

import numpy as np
import pytest
import torch
from scipy.special import expit
from scipy.stats import entropy
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import cosine_similarity

from model.capture import capture
from model.checkpoint import load
from model.experiments.answers import (
    answers,
    binary_entropies,
    entropies,
    losses,
    most_similar_states,
    token_answers,
)
from tests.model.huggingface.folders import SENTENCE, build, encoder

INPUTS = (SENTENCE, "a long slow story")


@pytest.mark.parametrize("changed", [{"num_labels": 1}, {"problem_type": "multi_label_classification"}])
def test_answers_are_those_of_transformers(tmp_path, changed):
    theirs = build(tmp_path / "own", "BertForSequenceClassification", **changed)
    loaded = load(tmp_path / "own")
    result = answers(loaded, INPUTS)
    for text, row in zip(INPUTS, result, strict=True):
        with torch.no_grad():
            logits = theirs(torch.tensor([loaded.tokenizer.encode(text).ids])).logits[0].numpy()
        expected = logits if "num_labels" in changed else expit(logits)
        np.testing.assert_allclose(row, expected, atol=1e-5)


def test_tokens_of_another_class_than_most_are_named(tmp_path):
    loaded = encoder(tmp_path / "own", "BertForTokenClassification", num_labels=3)
    record = capture(loaded, SENTENCE)
    classes = record.token_probabilities.argmax(axis=-1).tolist()
    usual = max(range(3), key=lambda index: (classes.count(index), -index))
    words = record.positions_with_role("word", "continuation")
    (result,) = token_answers(loaded, [SENTENCE])
    expected = [
        (record.tokens[index], record.token_class_names[classes[index]])
        for index in words
        if classes[index] != usual
    ]
    assert result.named == tuple(expected)
    p = record.token_probabilities.astype(float)
    assert result.entropy == pytest.approx(float(-(p * np.log(p)).sum(axis=-1).mean()), rel=1e-5)


def test_of_one_class_those_tokens_are_named_of_which_it_holds(tmp_path):
    loaded = encoder(tmp_path / "own", "ElectraForPreTraining")
    record = capture(loaded, SENTENCE)
    (result,) = token_answers(loaded, [SENTENCE])
    p = record.token_probabilities[:, 0].astype(float)
    assert [token for token, _ in result.named] == [
        record.tokens[index]
        for index in record.positions_with_role("word", "continuation")
        if p[index] >= 0.5
    ]
    expected = float(-(p * np.log(p) + (1 - p) * np.log(1 - p)).mean())
    assert result.entropy == pytest.approx(expected, rel=1e-5)


RNG = np.random.default_rng(0)
SOME = RNG.dirichlet(np.ones(5), 40).astype(np.float32)


def test_losses_by_hand():
    result = losses(np.log([[0.25, 0.75], [0.25, 0.75], [0.5, 0.5]]).astype(np.float32), np.array([0, 1, -1]))
    assert result[:2].tolist() == pytest.approx([math.log(4), math.log(4 / 3)])
    assert math.isnan(result[2])


def test_a_right_class_whose_probability_is_0_in_single_precision_has_its_own_loss():
    (result,) = losses(np.array([[0, 203.18]], np.float32), np.array([0]))
    assert result == pytest.approx(203.18, rel=1e-6)


def test_the_mean_of_the_losses_is_that_of_scikit_learn():
    labels = RNG.integers(0, 5, 40)
    theirs = log_loss(labels, SOME, labels=range(5))
    assert losses(np.log(SOME), labels).mean() == pytest.approx(theirs, rel=1e-5)


def test_entropies_by_hand():
    result = entropies(np.array([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]))
    assert result.tolist() == pytest.approx([0, math.log(2), math.log(3)])


def test_entropies_are_those_of_scipy():
    np.testing.assert_allclose(entropies(SOME), entropy(SOME.astype(float), axis=1), rtol=1e-5)


def test_classes_by_themselves_add_up():
    assert binary_entropies(np.array([[0.5, 1.0]])).tolist() == pytest.approx([math.log(2)])
    theirs = sum(entropy(np.stack([SOME[:, c], 1 - SOME[:, c]]).astype(float)) for c in range(5))
    np.testing.assert_allclose(binary_entropies(SOME), theirs, rtol=1e-5)


def test_the_most_alike_by_hand():
    index, cosine = most_similar_states(np.array([[1.0, 0.0], [3.0, 4.0], [6.0, 8.0], [0.0, 0.0]]))
    assert index.tolist() == [1, 2, 1, -1]
    assert cosine[:3].tolist() == pytest.approx([0.6, 1, 1])
    assert math.isnan(cosine[3])
    assert most_similar_states(np.ones((1, 2)))[0].tolist() == [-1]


def test_the_most_alike_are_those_of_scikit_learn():
    theirs = cosine_similarity(SOME.astype(float)) - 2 * np.eye(40)
    index, cosine = most_similar_states(SOME)
    assert index.tolist() == theirs.argmax(axis=1).tolist()
    np.testing.assert_allclose(cosine, theirs.max(axis=1), rtol=1e-6)
