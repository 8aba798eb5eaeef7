import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import FALLS, RISES
from viz.inside.factor_bars import factor_bars

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
