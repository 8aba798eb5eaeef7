from itertools import pairwise

import pytest

from tests.viz.scene import drawn
from viz.cost.length_scaling import length_scaling

LENGTHS = (64, 128, 256, 512)
SQUARES = [n * n for n in LENGTHS]


def test_a_power_law_is_a_straight_line() -> None:
    *_, points = drawn(length_scaling(LENGTHS, {"a": SQUARES}, quantity="multiply-adds"), width=400)
    steps = [(b["x"] - a["x"], b["y"] - a["y"]) for a, b in pairwise(points)]
    assert all(step == pytest.approx(steps[0]) for step in steps)
    assert steps[0][1] < 0


def test_kinds_differ_in_colour_and_in_shape() -> None:
    chart = length_scaling(LENGTHS, {"a": SQUARES, "b": LENGTHS}, quantity="multiply-adds")
    *_, points = drawn(chart)
    assert len({point["fill"] for point in points}) == 2
    assert len({point["shape"] for point in points}) == 2


def test_axes_say_what_they_show() -> None:
    encoding = length_scaling(LENGTHS, {"a": SQUARES}, quantity="time (ms)").specification["layer"][1][
        "encoding"
    ]
    assert encoding["x"]["title"] == "sequence length n (positions)"
    assert encoding["y"]["title"] == "time (ms)"
    assert encoding["x"]["scale"]["type"] == encoding["y"]["scale"]["type"] == "log"


def test_no_kinds_make_an_empty_chart() -> None:
    assert not any(drawn(length_scaling(LENGTHS, {}, quantity="multiply-adds")))


def test_ticks_are_the_powers_of_ten_around_the_values() -> None:
    chart = length_scaling((64, 128), {"a": (0.3, 2), "b": (5, 40)}, quantity="time (ms)")
    assert {"name": "powers", "value": [0.1, 1, 10, 100]} in chart.specification["params"]
    (labels, *_) = ([axis["value"] for axis in chart.specification["params"] if axis["name"] == "lengths"],)
    assert labels == [[64, 128]]
