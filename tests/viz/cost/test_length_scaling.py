from itertools import pairwise

import pytest

from tests.viz.scene import drawn, shown_texts
from viz.builders.palette import EMPHASIS
from viz.cost.length_scaling import length_scaling, part_bars

LENGTHS = (64, 128, 256, 512)
SQUARES = [n * n for n in LENGTHS]


def test_a_power_law_is_a_straight_line():
    *_, points = drawn(length_scaling(LENGTHS, {"a": SQUARES}), width=400)
    steps = [(b["x"] - a["x"], b["y"] - a["y"]) for a, b in pairwise(points)]
    assert all(step == pytest.approx(steps[0]) for step in steps)
    assert steps[0][1] < 0


def test_ticks_are_the_powers_of_ten_around_the_values():
    chart = length_scaling((64, 128), {"a": (0.3, 2), "b": (5, 40)})
    assert {"name": "powers", "value": [0.1, 1, 10, 100]} in chart.specification["params"]
    (labels, *_) = ([axis["value"] for axis in chart.specification["params"] if axis["name"] == "lengths"],)
    assert labels == [[64, 128]]


def test_bars_are_the_shares_in_the_order_given():
    bars, texts = drawn(
        part_bars(["b", "a", "c"], [500, 1500, 0], quantity="parameters", marked="a"), width=460
    )
    assert [bar["width"] for bar in bars] == pytest.approx([bars[0]["width"], 3 * bars[0]["width"], 0])
    assert [text["text"] for text in texts] == ["500 · 25.0\u2009%", "1.5 k · 75.0\u2009%", "0"]
    assert [bar["fill"] == EMPHASIS for bar in bars] == [False, True, False]
    bars, _ = drawn(part_bars(["a"], [1], quantity="parameters"))
    assert bars[0]["fill"] != EMPHASIS


def test_a_share_is_not_rounded_to_nothing():
    _, texts = drawn(part_bars(["a", "b"], [1, 9999], quantity="parameters"))
    assert texts[0]["text"] == "1 · <0.1\u2009%"


def test_the_largest_bar_leaves_room_for_its_text():
    bars, _ = drawn(part_bars(["a"], [37_858_304], quantity="parameters"), width=300)
    assert bars[0]["width"] < 300 - 80


def test_charts_beside_each_other_have_one_scale():
    (half, *_), _ = drawn(part_bars(["a", "b"], [50, 50], quantity="parameters"), width=400)
    (more, *_), _ = drawn(part_bars(["a", "b"], [57, 43], quantity="parameters"), width=400)
    assert half["width"] / more["width"] == pytest.approx(50 / 57)


def test_hover_gives_the_exact_count():
    figure = part_bars(["a", "b"], [37_858_304, 1], quantity="multiply-adds")
    assert figure.frame["exact"].tolist() == ["37,858,304", "1"]
    assert figure.frame["percent"].tolist() == [">99.99\u2009%", "<0.01\u2009%"]


def test_nothing_counted_makes_bars_of_no_length():
    bars, _ = drawn(part_bars(["a", "b"], [0, 0], quantity="parameters"))
    assert [bar["width"] for bar in bars] == [0, 0]


def test_the_total_is_below_and_comes_with_the_data():
    one, other = (part_bars(["a"], [count], quantity="parameters") for count in (37_858_304, 5))
    assert one.specification["title"] == other.specification["title"]
    assert "share of 37,858,304 parameters" in shown_texts(one)
    assert "share of 5 parameters" in shown_texts(other)
