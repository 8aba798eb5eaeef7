import numpy as np
import pytest

from model.capture import capture
from model.measures.word_view import hidden_positions, view
from model.record import AttentionRecord
from model.record.from_arrays import from_arrays
from tests.model import tiny
from tests.tolerance import rounding

#         [CLS]  un   ##do  it   [SEP]
BY_HAND = [
    [0.10, 0.20, 0.30, 0.40, 0.00],
    [0.50, 0.10, 0.10, 0.10, 0.20],
    [0.10, 0.30, 0.50, 0.10, 0.00],
    [0.20, 0.20, 0.20, 0.20, 0.20],
    [1.00, 0.00, 0.00, 0.00, 0.00],
]
TOKENS = ("[CLS]", "un", "##do", "it", "[SEP]")


@pytest.fixture
def record() -> AttentionRecord:
    return from_arrays(np.array(BY_HAND, np.float32)[None, None], TOKENS)


def test_to_a_word_the_sum_and_from_a_word_the_mean_by_hand(record) -> None:
    result = view(record, merged=True)
    assert result.tokens == ("[CLS]", "undo", "it", "[SEP]")
    assert result.roles == ("class", "word", "word", "separator")
    assert result.numbers == (0, 1, 3, 4)
    assert result.units == "words"
    expected = [
        [0.10, 0.50, 0.40, 0.00],
        [0.30, 0.50, 0.10, 0.10],
        [0.20, 0.40, 0.20, 0.20],
        [1.00, 0.00, 0.00, 0.00],
    ]
    np.testing.assert_allclose(result.pattern[0, 0], expected, rtol=rounding(8))


def test_what_is_hidden_is_given_to_nobody_by_hand(record) -> None:
    result = view(record, hidden=True)
    assert result.labels == ("1 un", "2 ##do", "3 it")
    np.testing.assert_array_equal(result.pattern, record.pattern[..., 1:4, 1:4])
    np.testing.assert_allclose(result.pattern[0, 0].sum(axis=-1), [0.3, 0.9, 0.6], rtol=rounding(8))
    both = view(record, merged=True, hidden=True)
    np.testing.assert_allclose(both.pattern[0, 0], [[0.5, 0.1], [0.4, 0.2]], rtol=rounding(8))
    assert both.labels == ("1 undo", "3 it")


@tiny.encoders
@pytest.mark.parametrize("hidden", [False, True])
def test_against_products_with_the_words_membership(loaded, given_input, hidden: bool) -> None:
    read = "a great films notx xyz [MASK]" if isinstance(given_input, str) else given_input
    record = capture(loaded, read)
    result = view(record, merged=True, hidden=hidden)
    words = []
    for index, role in enumerate(record.roles):
        if role == "continuation":
            words[-1].append(index)
        elif not (hidden and role in ("class", "separator")):
            words.append([index])
    member = np.zeros((len(words), len(record)))
    for word, pieces in enumerate(words):
        member[word, pieces] = 1
    mean = member / member.sum(axis=1, keepdims=True)
    expected = mean @ record.pattern.astype(float) @ member.T
    np.testing.assert_allclose(result.pattern, expected, rtol=rounding(64), atol=rounding(8))
    np.testing.assert_array_equal(result.mask, member @ record.mask @ member.T > 0)


def test_each_position_is_found_by_the_one_of_the_input(record) -> None:
    result = view(record, merged=True, hidden=True)
    assert [result.position_of(number) for number in range(5)] == [0, 0, 0, 1, 1]
    assert [record.position_of(number) for number in (-1, 0, 4, 9)] == [0, 0, 4, 4]
    assert [result.number(index) for index in range(2)] == [1, 3]


def test_of_a_picture_the_class_token_is_hidden_and_the_grid_stays() -> None:
    record = capture(tiny.loaded(tiny.DIGIT), np.eye(8, dtype=np.uint8) * 255)
    result = view(record, merged=True, hidden=True)
    assert (len(result), result.first_patch, result.patch_grid) == (4, 0, (2, 2))
    np.testing.assert_array_equal(result.pattern, record.pattern[..., 1:, 1:])
    assert view(record, merged=True) is record


def test_keys_that_are_no_queries_are_merged_as_well() -> None:
    pattern = np.array([[[[0.25, 0.25, 0.5], [0.0, 1.0, 0.0]]]], np.float32)
    record = from_arrays(pattern, ("a", "b"), keys=("x", "##y", "[SEP]"))
    result = view(record, merged=True, hidden=True)
    np.testing.assert_array_equal(result.pattern, [[[[0.5], [1.0]]]])
    assert result.attended.tokens == ("xy",)
    assert result.tokens == ("a", "b")


def test_nothing_is_hidden_where_nothing_else_is_there() -> None:
    record = from_arrays(np.full((1, 1, 2, 2), 0.5), ("[CLS]", "[SEP]"))
    assert hidden_positions(record) == ()
    assert view(record, merged=True, hidden=True) is record


def test_a_piece_whose_word_is_not_there_stands_alone() -> None:
    record = from_arrays(np.full((1, 1, 3, 3), 1 / 3), ("[CLS]", "##s", "a"))
    assert view(record, merged=True) is record


def test_a_view_of_a_view_says_where_things_stood_in_the_input(record) -> None:
    assert view(view(record, hidden=True), merged=True).numbers == (1, 3)
