from dataclasses import replace

import numpy as np
import pytest

from model.atlas.linked_inputs import LinkedText
from model.atlas.strongest_words import strongest_words
from model.capture import capture
from model.measures.word_view import view
from tests.model import tiny


@pytest.fixture(scope="module")
def loaded():
    return tiny.loaded(replace(tiny.TEXT, n_positions=20))


def test_the_strongest_word_of_each_word(loaded):
    text = "great films not xyz"
    words = tuple((text.index(word), text.index(word) + len(word)) for word in text.split())
    found = strongest_words(loaded, LinkedText(text, words=words, links=()))
    pattern = view(capture(loaded, text), merged=True, hidden=True).pattern.copy()
    for word in range(4):
        pattern[:, :, word, word] = -1
    np.testing.assert_array_equal(found, pattern.argmax(axis=-1))


def test_a_word_that_shares_its_token_is_no_strongest_word(loaded):
    """ "fi" and "lms" share the token "film": they have no key, and are none."""
    sentence = LinkedText("not films", words=((0, 3), (4, 6), (6, 9)), links=())
    assert (strongest_words(loaded, sentence) == -1).all()
