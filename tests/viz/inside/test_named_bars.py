import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import FALLS, RISES
from viz.inside.named_bars import factor_bars, value_bars

VALUES = {"0 a": 1.0, "1 b": -2.0, "2 c": 4.0}


def bars_of(values, before=None):
    return value_bars(values, what="after", before=before or values, was="before")


def test_bars_from_a_common_zero_in_the_colour_of_their_sign():
    bars, _, texts, _ = drawn(bars_of(VALUES), width=700)
    assert [text["text"] for text in texts] == ["1.00", "−2.00", "4.00"]
    assert [bar["width"] for bar in bars] == pytest.approx([bars[0]["width"] * times for times in (1, 2, 4)])
    assert bars[1]["x"] + bars[1]["width"] == pytest.approx(bars[0]["x"]) == pytest.approx(bars[2]["x"])
    assert bars[0]["fill"] == bars[2]["fill"] != bars[1]["fill"]


def test_numbers_stand_beside_the_longer_of_two_bars():
    before = {name: 3 * value for name, value in VALUES.items()}
    bars, outlines, texts, _ = drawn(bars_of(VALUES, before), width=700)
    assert [outline["width"] for outline in outlines] == pytest.approx([3 * bar["width"] for bar in bars])
    assert texts[0]["x"] == pytest.approx(outlines[0]["x"] + outlines[0]["width"])
    assert texts[1]["x"] == pytest.approx(outlines[1]["x"])
    assert [text["align"] for text in texts] == ["left", "right", "left"]
    assert all(0 < text["x"] < 700 for text in texts)


def test_an_activation_can_turn_a_sign():
    bars, outlines, _, _ = drawn(bars_of({"u": -0.1}, {"u": -2.0}))
    assert outlines[0]["width"] == pytest.approx(20 * bars[0]["width"])


def test_zeros_and_nothing_can_be_drawn():
    assert len(drawn(bars_of({"a": 0.0}))[0]) == 1
    assert drawn(bars_of({})) == [[], [], [], []]


COLUMNS = {"a": np.array([2.0, -1.0]), "b": np.array([0.5, 0.25]), "a · b": np.array([1.0, -0.25])}


def test_each_column_has_bars_on_its_own_scale_from_its_own_zero() -> None:
    bars, numbers = drawn(factor_bars(COLUMNS, ["unit 7", "unit 3"]), width=600)
    assert len(bars) == len(numbers) == 6
    first, second, _, _, product, other_product = bars
    assert first["width"] == pytest.approx(2 * second["width"])
    assert first["x"] == pytest.approx(second["x"] + second["width"])
    assert product["width"] == pytest.approx(4 * other_product["width"])
    assert [bar["fill"] for bar in bars] == [RISES, FALLS, RISES, RISES, RISES, FALLS]


def test_the_numbers_stand_at_the_right_of_their_column() -> None:
    _, numbers = drawn(factor_bars(COLUMNS, ["unit 7", "unit 3"]), width=600)
    assert [number["text"] for number in numbers] == ["2.00", "−1.00", "0.500", "0.250", "1.00", "−0.250"]
    assert numbers[0]["x"] == numbers[1]["x"] < numbers[2]["x"] < numbers[4]["x"]


def test_zeros_have_no_bars() -> None:
    bars, _ = drawn(factor_bars({"a": np.zeros(2)}, ["unit 0", "unit 1"]))
    assert all(bar["width"] == pytest.approx(0) for bar in bars)
