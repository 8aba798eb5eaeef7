import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.palette import ACCENT, EMPHASIS
from viz.positions.shift_curve import shift_curve

PROBABILITIES = np.array([[0.1, 0.9], [0.4, 0.6], [0.7, 0.3]])
NAMES = ("negative", "positive")


def test_the_curve_follows_what_led_without_a_shift():
    chart = shift_curve([0, 5, 10], PROBABILITIES, NAMES, selected=5)
    _, rule, points = drawn(chart, width=500)
    assert chart.specification["layer"][2]["encoding"]["y"]["title"] == "probability of positive"
    assert points[0]["y"] < points[1]["y"] < points[2]["y"]
    assert rule[0]["stroke"] == ACCENT
    assert rule[0]["x"] == points[1]["x"]


def test_a_point_is_hollow_where_another_class_leads():
    *_, points = drawn(shift_curve([0, 5, 10], PROBABILITIES, NAMES, selected=0), width=500)
    assert [point["fill"] for point in points] == [EMPHASIS, EMPHASIS, "transparent"]


def test_a_click_names_the_shift():
    (click,) = shift_curve([0, 5, 10], PROBABILITIES, NAMES, selected=0).specification["params"][:1]
    assert (click["name"], click["select"]["fields"]) == ("shift", ["shift"])


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"need probabilities of \(2, 2\), got \(3, 2\)"):
        shift_curve([0, 5], PROBABILITIES, NAMES, selected=0)
