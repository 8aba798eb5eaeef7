import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.positions.norm_curves import norm_curves

NORMS = {"|x|": np.array([3.0, 4.0, 5.0]), "|p|": np.array([1.0, 1.0, 1.0])}
TOKENS = ("[CLS]", "film", "[SEP]")


def test_each_kind_has_a_curve_of_its_own_shape_and_colour():
    *_, points = drawn(norm_curves(NORMS, TOKENS), width=600)
    assert len(points) == 6
    assert len({point["stroke"] if "stroke" in point else point["fill"] for point in points}) == 2
    assert len({point.get("shape", "circle") for point in points}) == 2


def test_a_longer_vector_stands_higher_and_zero_is_in_sight():
    chart = norm_curves(NORMS, TOKENS)
    *_, points = drawn(chart, width=600)
    assert points[2]["y"] < points[1]["y"] < points[0]["y"] < points[3]["y"] < chart.specification["height"]
    assert [point["x"] for point in points[:3]] == [0, points[1]["x"], 2 * points[1]["x"]]


def test_hover_gives_token_and_exact_length():
    encoding = norm_curves(NORMS, TOKENS).specification["layer"][1]["encoding"]
    assert [field["field"] for field in encoding["tooltip"]] == ["vector", "position", "token", "norm"]


def test_lengths_that_do_not_fit_the_tokens_are_refused():
    with pytest.raises(
        ValueError, match=r"2 tokens need as many lengths each, got \{'\|x\|': 3, '\|p\|': 3\}"
    ):
        norm_curves(NORMS, TOKENS[:2])


def test_one_token_has_a_point():
    *_, points = drawn(norm_curves({"|x|": np.ones(1)}, ("a",)), width=600)
    assert len(points) == 1
