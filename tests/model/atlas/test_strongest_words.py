from dataclasses import replace

import numpy as np
import pytest

from model.atlas.linked_inputs import TO_DEPENDENT, TO_HEAD, Link, LinkedText
from model.atlas.strongest_words import link_cells, strongest_words
from model.capture import capture
from model.measures.word_view import view
from tests.model import tiny

TEXT = "great films not xyz"  # the tokenizer splits "films" into film ##s, and "xyz" into x ##y ##z
SPANS = ((0, 5), (6, 11), (12, 15), (16, 19))
LINKS = (Link(0, 1, "amod"), Link(3, 2, "dep"))


@pytest.fixture(scope="module")
def loaded():
    return tiny.loaded(replace(tiny.TEXT, n_positions=20))


def test_the_strongest_word_of_each_word(loaded):
    result = strongest_words(loaded, LinkedText(TEXT, words=SPANS, links=()))
    pattern = view(capture(loaded, TEXT), merged=True, hidden=True).pattern.copy()
    for word in range(4):
        pattern[:, :, word, word] = -1
    np.testing.assert_array_equal(result, pattern.argmax(axis=-1))


def positions_by_hand(tokens) -> list[list[int]]:
    """The positions of each word, by the marks of continued words."""
    words: list[list[int]] = []
    for position, token in enumerate(tokens):
        if token.startswith("["):
            continue
        if token.startswith("##"):
            words[-1].append(position)
        else:
            words.append([position])
    return words


@pytest.mark.parametrize("direction", [TO_HEAD, TO_DEPENDENT])
def test_a_sentence_by_hand(loaded, direction):
    record = capture(loaded, TEXT)
    words = positions_by_hand(record.tokens)
    assert len(words) == 4
    assert any(len(word) > 1 for word in words)
    result = link_cells(loaded, LinkedText(TEXT, words=SPANS, links=LINKS), direction)
    assert [cells.relation for cells in result] == ["amod", "dep"]
    for cells, (dependent, head, _) in zip(result, LINKS, strict=True):
        query, key = (dependent, head) if direction == TO_HEAD else (head, dependent)
        assert cells.words == (TEXT.split()[query], TEXT.split()[key])
        assert cells.queries == tuple(words[query])
        assert cells.keys == tuple(words[key])
        for layer, index in np.ndindex(2, 2):
            weight = [
                np.mean([sum(record.pattern[layer, index, i, j] for j in word) for i in words[query]])
                for word in words
            ]
            weight[query] = -1
            assert cells.hits[layer, index] == (np.argmax(weight) == key)


def test_words_that_share_a_token_are_no_strongest_words_and_have_no_links(loaded):
    """ "fi" and "lms" share the token "film": they have no key, and are none."""
    links = (Link(1, 2, "dep"), Link(0, 1, "dep"))
    sentence = LinkedText("not films", words=((0, 3), (4, 6), (6, 9)), links=links)
    assert (strongest_words(loaded, sentence) == -1).all()
    assert link_cells(loaded, sentence) == ()


def test_links_beyond_the_length_that_is_read_are_left_out():
    short = tiny.loaded(replace(tiny.TEXT, n_positions=4))
    short = replace(short, tokenizer=tiny.tokenizer(4))
    links = (Link(0, 1, "x"), Link(2, 3, "y"))
    sentence = LinkedText("a b c d", words=((0, 1), (2, 3), (4, 5), (6, 7)), links=links)
    assert [cells.relation for cells in link_cells(short, sentence)] == ["x"]
