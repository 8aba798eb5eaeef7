from dataclasses import replace

import numpy as np
import pytest

from app_pages.widgets import contrast
from app_pages.widgets.contrast import Side, same_position, take_from_second
from model.capture import capture
from model.inputs import Picture, Text
from tests.model import tiny

FINE = replace(tiny.DIGIT, patch_size=2, n_positions=17)


def text(given: str) -> Side:
    record = capture(tiny.loaded(tiny.TEXT), given)
    return Side(title="text", checkpoint="tiny", given=Text(given), label=None, record=record)


def digit(config=tiny.DIGIT) -> Side:
    picture = Picture.of(np.zeros((8, 8), np.uint8))
    record = capture(tiny.loaded(config), picture)
    return Side(title="digit", checkpoint="tiny", given=picture, label=None, record=record)


def test_positions_of_texts_correspond_as_far_as_both_reach() -> None:
    long, short = text("not great film"), text("film")  # 5 and 3 tokens
    assert [same_position(long, short, query) for query in range(5)] == [0, 1, 2, None, None]


def test_one_text_that_two_tokenizers_cut_differently_has_the_class_token_in_common() -> None:
    here, there = text("not great film"), replace(text("film"), checkpoint="another")
    assert [same_position(here, there, query) for query in range(3)] == [0, None, None]
    alike = replace(text("not great film"), checkpoint="another")
    assert [same_position(here, alike, query) for query in range(3)] == [0, 1, 2]


def test_of_other_patches_the_class_tokens_alone_correspond() -> None:
    assert [same_position(digit(), digit(FINE), query) for query in (0, 1, 4)] == [0, None, None]
    without = digit(replace(FINE, pooling="mean", n_positions=16))
    assert same_position(digit(), without, 0) is None
    assert same_position(digit(), digit(), 4) == 4


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
def test_a_click_on_the_second_side_takes_what_the_first_has_too(
    monkeypatch: pytest.MonkeyPatch, first: Side, second: Side, position: int, taken: list[int]
) -> None:
    found: list[int] = []
    monkeypatch.setattr(contrast, "take_query", found.append)
    take_from_second(first, second, position)
    assert found == taken
