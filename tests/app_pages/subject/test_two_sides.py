from dataclasses import dataclass, replace

import numpy as np
import pytest

from app_pages.controls import head_choice
from app_pages.controls.head_choice import take_position_from_second
from app_pages.subject.subject import Measured
from app_pages.subject.two_sides import (
    Side,
    common_tokens,
    corresponding_position,
    difference,
    head_patterns,
    shared_limit,
)
from model.capture import capture
from model.capture.intervention import Intervention, repositioned
from model.inputs import Picture
from model.record import ForwardRecord
from tests.model import tiny

FINE = replace(tiny.DIGIT, patch_size=2, n_positions=17)


@dataclass(frozen=True)
class Known:
    """A subject whose record is given."""

    checkpoint: str
    record: ForwardRecord

    model_input = None
    intervention = Intervention()

    def viewed(self, *_choice: object, **_options: bool) -> Measured:
        return Measured(self.record, {})


def text(model_input: str, checkpoint: str = "tiny") -> Side:
    return Side(Known(checkpoint, capture(tiny.loaded(tiny.TEXT), model_input)), "text")


def digit(config=tiny.DIGIT) -> Side:
    record = capture(tiny.loaded(config), Picture.of(np.zeros((8, 8), np.uint8)))
    return Side(Known("tiny", record), "digit")


def shuffled(model_input: str, order: tuple[int, ...], zeroed: bool = False) -> Side:
    record = capture(tiny.loaded(tiny.TEXT), model_input, repositioned(order=order, zeroed=zeroed))
    return Side(Known("tiny", record), "shuffled", order)


# The scale, and the patterns


def test_the_shared_scale_reaches_to_the_largest_of_all():
    assert shared_limit([np.array([0.1, -0.5]), np.array([0.2])]) == 0.5
    assert shared_limit([np.zeros(2), np.array([0.2])]) == 0.2
    assert shared_limit([]) == shared_limit([np.zeros(3)]) == 1


def test_the_difference_is_the_second_minus_the_first_token_by_token():
    before, after = text("not film"), shuffled("not film", (0, 2, 1, 3))
    figure = difference(before, after, (1, 0), title="L1 H0")().specification
    one, other = before.record.pattern[1, 0], after.record.pattern[1, 0]
    trace = figure["data"][0]
    np.testing.assert_allclose(trace["z"][1][2], other[2, 1] - one[1, 2], atol=1e-6)
    assert list(trace["x"]) == ["[CLS]", "not", "film", "[SEP]"]
    assert "shuffled minus text" in str(figure)


def test_heads_that_are_partners_are_subtracted():
    first, second = text("not film"), text("great film")
    patterns = [pattern() for pattern in head_patterns(first, second, (0, 1), (1, 0))]
    np.testing.assert_array_equal(patterns[0], first.record.pattern[0, 1])
    np.testing.assert_array_equal(patterns[1], second.record.pattern[1, 0])
    assert common_tokens(first, second) == ("[CLS]", "not|great", "film", "[SEP]")


def test_without_positions_a_pattern_put_back_is_what_it_was():
    order = (0, 3, 1, 2, 4)
    before, after = shuffled("not great film", (0, 1, 2, 3, 4), True), shuffled("not great film", order, True)
    one, other = head_patterns(before, after, (1, 1))
    np.testing.assert_allclose(one(), other(), **tiny.CLOSE)
    assert common_tokens(before, after) == before.record.tokens


# Positions that correspond


def test_what_is_read_at_one_place_is_found_where_it_was_moved_to():
    before, after = text("not great film"), shuffled("not great film", (0, 3, 1, 2, 4))
    assert [corresponding_position(before, after, index) for index in range(5)] == [0, 2, 3, 1, 4]
    assert [corresponding_position(after, before, index) for index in range(5)] == [0, 3, 1, 2, 4]


def test_positions_of_texts_correspond_as_far_as_both_reach():
    long, short = text("not great film"), text("film")  # 5 and 3 tokens
    assert [corresponding_position(long, short, query) for query in range(5)] == [0, 1, 2, None, None]


def test_one_text_that_two_tokenizers_cut_differently_has_the_class_token_in_common():
    first, other = text("not great film"), text("film", "another")
    assert [corresponding_position(first, other, query) for query in range(3)] == [0, None, None]
    alike = text("not great film", "another")
    assert [corresponding_position(first, alike, query) for query in range(3)] == [0, 1, 2]


def test_of_other_patches_the_class_tokens_alone_correspond():
    assert [corresponding_position(digit(), digit(FINE), query) for query in (0, 1, 4)] == [0, None, None]
    without = digit(replace(FINE, pooling="mean", n_positions=16))
    assert corresponding_position(digit(), without, 0) is None
    assert corresponding_position(digit(), digit(), 4) == 4


@pytest.mark.parametrize(
    ("first", "second", "position", "taken"),
    [
        (digit(), digit(), 3, [3]),
        (digit(), digit(FINE), 3, []),
        (digit(), digit(FINE), 0, [0]),
        (text("film"), text("not great film"), 2, [2]),
        (text("film"), text("not great film"), 4, []),
    ],
)
def test_a_click_on_the_second_side_takes_what_the_first_has_too(monkeypatch, first, second, position, taken):
    result: list[int] = []
    monkeypatch.setattr(head_choice, "take_query", result.append)
    take_position_from_second(first, second, position)
    assert result == taken
