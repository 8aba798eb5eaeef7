import math

import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.positions.clock_hands import AT_MOST, clock_hands

QUARTERS = np.array([0, math.pi / 2, math.pi])
LENGTHS = np.array([6.28, 62.8, 62831.9])


def hands(angles, *, before=None, layer=2):
    """From the middle of each clock: to the right and up, in radii of its face."""
    layers = drawn(clock_hands(angles, np.full(len(angles), 10.0), before=before), width=640)
    radius = math.sqrt(layers[3][0]["size"]) / 2
    return [
        ((item.get("x2", item["x"]) - item["x"]) / radius, (item["y"] - item.get("y2", item["y"])) / radius)
        for item in layers[layer]
    ]


def test_a_hand_points_to_sine_and_cosine_clockwise_from_the_top():
    assert np.array(hands(QUARTERS)) == pytest.approx(np.array([[0, 1], [1, 0], [0, -1]]), abs=1e-6)


def test_faint_hands_show_where_they_stood_before():
    before = hands(QUARTERS, before=np.full(3, math.pi / 2), layer=1)
    assert np.array(before) == pytest.approx(np.array([[1, 0]] * 3), abs=1e-6)


def test_names_and_wavelengths():
    layers = drawn(clock_hands(QUARTERS, LENGTHS), width=640)
    assert [item["text"] for item in layers[4]] == ["k 0", "k 1", "k 2"]
    assert [item["text"] for item in layers[5]] == ["λ 6.28", "λ 62.8", "λ 62.8k"]


@pytest.mark.parametrize("width", [600, 900, 1600])
def test_of_many_frequencies_some_are_drawn_the_first_and_the_last_among_them(width):
    layers = drawn(clock_hands(np.zeros(256), np.full(256, 10.0)), width=width)
    names = [item["text"] for item in layers[4]]
    assert len(names) == AT_MOST
    assert (names[0], names[-1]) == ("k 0", "k 255")
    assert max(item["x"] for item in layers[4]) < width


def test_numbers_of_frequencies_must_agree():
    with pytest.raises(ValueError, match=r"\(3,\) angles"):
        clock_hands(QUARTERS, LENGTHS[:2])
