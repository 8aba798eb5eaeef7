import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.positions.shuffle_strip import shuffle_strip


def strip(selected=None):
    return shuffle_strip(
        {"with": np.array([0.1, 0.5, 0.9]), "without": np.array([0.25, 0.25, 0.25])},
        {"with": 1.0, "without": 0.25},
        class_name="7",
        selected=selected,
    )


def test_a_dot_stands_at_its_probability_in_the_row_of_its_condition():
    bars, dots = drawn(strip(), width=1000)
    assert len(dots) == 6
    left = [dot["x"] for dot in dots]
    assert left[0] < left[3] == left[4] == left[5] < left[1] < left[2] < bars[0]["x"]
    assert bars[1]["x"] == pytest.approx(left[3], abs=1.5)  # half the bar
    assert max(dot["y"] for dot in dots[:3]) < min(dot["y"] for dot in dots[3:])


def test_equal_dots_do_not_hide_each_other():
    _, dots = drawn(strip(), width=1000)
    assert len({dot["y"] for dot in dots[3:]}) == 3


def test_the_dots_of_the_chosen_seed_stand_out():
    _, dots = drawn(strip(selected=1), width=1000)
    assert [dot["fill"] == ACCENT for dot in dots] == [False] * 4 + [True] * 2
    assert dots[-1]["size"] > dots[0]["size"]
    assert [dot["description"] for dot in dots[-2:]] == ["with, seed 1", "without, seed 1"]


def test_no_orders_make_an_empty_chart():
    bars, dots = drawn(shuffle_strip({}, {}, class_name="7", selected=None), width=1000)
    assert bars == dots == []
