from dataclasses import replace

import numpy as np
import pytest
import torch

from model.capture import capture
from model.experiments.explained_answer import Explained, Similarity, explained_answer, similarity_falls
from model.experiments.masked_word import MaskedWord
from model.experiments.probabilities import probabilities
from model.inputs import prepare
from model.loaded import Loaded
from tests.model import tiny

MASKED, OTHER = "great film [MASK] a b", "not a film"
FILLING = tiny.loaded(replace(tiny.TEXT, masked_token_output=True, class_names=()))


def value(loaded: Loaded, text: str, answer: Explained) -> float:
    inputs, _ = prepare(loaded, text)
    with torch.no_grad():
        return float(explained_answer(loaded, text, answer)(loaded.model.encode(inputs), inputs))


def test_the_log_odds_are_of_the_class_or_of_the_predicted_one() -> None:
    loaded = tiny.loaded(tiny.TEXT)
    p = capture(loaded, "not great").probabilities.astype(float)
    for number in (0, 1):
        assert value(loaded, "not great", number) == pytest.approx(
            np.log(p[number] / p[1 - number]), abs=1e-5
        )
    assert value(loaded, "not great", None) == value(loaded, "not great", int(p.argmax()))


def test_the_masked_word_is_that_of_other_experiments() -> None:
    word = MaskedWord(3, 7)
    expected = probabilities(FILLING, [MASKED], answer=word)[0, 0, 0]
    assert value(FILLING, MASKED, word) == pytest.approx(float(expected), abs=1e-5)


def test_the_similarity_is_the_cosine_of_the_pooled_states() -> None:
    first, second = (capture(FILLING, text).pooled.astype(float) for text in (MASKED, OTHER))
    cosine = first @ second / np.sqrt((first @ first) * (second @ second))
    assert value(FILLING, MASKED, Similarity(OTHER)) == pytest.approx(cosine, abs=1e-6)
    assert value(FILLING, MASKED, Similarity()) == pytest.approx(1, abs=1e-6)
    assert value(FILLING, MASKED, None) == pytest.approx(1, abs=1e-6)


def test_answers_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(ValueError, match=r"position 2 holds no \[MASK\]"):
        explained_answer(FILLING, MASKED, MaskedWord(2, 7))
    with pytest.raises(ValueError, match="tiny has no masked-token output"):
        explained_answer(tiny.loaded(tiny.TEXT), MASKED, MaskedWord(3, 7))
    with pytest.raises(ValueError, match="tiny takes text, got a picture"):
        explained_answer(FILLING, MASKED, Similarity(np.zeros((8, 8), np.uint8)))


def test_falls_of_a_similarity_by_hand() -> None:
    """With (1, 0): from the cosine 3/5 of (3, 4) to 1, 0 and -1."""
    states = np.array([[2.0, 0], [0, 1], [-1, 0]])
    falls = similarity_falls(np.array([3.0, 4]), states, np.array([1.0, 0]))
    np.testing.assert_allclose(falls, [-0.4, 0.6, 1.6])
