import math

import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, CATEGORIES, NEUTRAL
from viz.inside.temperature_curve import temperature_curve

TEMPERATURES = (0.0, 0.1, 1.0, 10.0, math.inf)
TWO = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.5, 0.5]])


def curve(probabilities=TWO, names=("no", "yes"), chosen=1.0, marks=None):
    return temperature_curve(TEMPERATURES, probabilities, names, chosen=chosen, marks=marks or {})


def points(chart) -> list[dict]:
    return [item for items in drawn(chart, width=500) for item in items if "size" in item]


def test_temperatures_are_evenly_spaced_in_their_logarithm_with_the_limits_at_the_ends():
    xs = sorted({point["x"] for point in points(curve())})
    assert len(xs) == 5
    assert xs[2] - xs[1] == pytest.approx(xs[3] - xs[2])
    assert xs[1] - xs[0] == pytest.approx(xs[4] - xs[3])


def test_every_class_is_a_line_at_its_probabilities():
    ys = [point["y"] for point in points(curve()) if math.isclose(point["x"], points(curve())[0]["x"])]
    assert ys == pytest.approx([0.1 * 280, 0.9 * 280])


def test_the_chosen_temperature_is_marked():
    for chosen in TEMPERATURES:
        chart = curve(chosen=chosen)
        (rule,) = (
            item for items in drawn(chart, width=500) for item in items if item.get("stroke") == ACCENT
        )
        xs = sorted({point["x"] for point in points(chart)})
        assert rule["x"] == pytest.approx(xs[TEMPERATURES.index(chosen)])


def test_a_mark_stands_at_its_temperature_under_its_name():
    chart = curve(marks={"no scale": 0.1})
    texts = [item for items in drawn(chart, width=500) for item in items if item.get("text") == "no scale"]
    xs = sorted({point["x"] for point in points(chart)})
    assert texts[0]["x"] == pytest.approx(xs[1])


def test_of_many_classes_those_that_never_matter_are_grey():
    many = np.full((5, 10), 0.01)
    many[:, 3], many[2, 7] = 0.8, 0.12
    figure = curve(many, [str(name) for name in range(10)])
    by_place = {point["y"]: point["fill"] for point in points(figure)}
    grey = [index for index, colour in by_place.items() if colour == NEUTRAL]
    assert grey == pytest.approx([0.99 * 280])
    assert len(set(by_place.values())) == 3
    (listed,) = (
        parameter["value"] for parameter in figure.specification["params"] if parameter["name"] == "prominent"
    )
    assert listed == ["3", "7"]


def test_of_many_classes_that_matter_as_many_as_there_are_colours_are_drawn_in_them():
    many = np.tile(np.linspace(0.11, 0.2, 10), (5, 1))
    fills = {point["fill"] for point in points(curve(many, [str(name) for name in range(10)]))}
    assert fills == {*CATEGORIES, NEUTRAL}
