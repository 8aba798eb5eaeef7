import numpy as np
import pytest

from tests.viz.scene import drawn, shown_texts
from viz.builders.palette import ACCENT, EMPHASIS
from viz.positions.position_curves import (
    HOLDS,
    SEES,
    error_curves,
    map_shares,
    neighbour_bars,
    norm_curves,
    offset_curve,
    reach_bars,
    shift_curve,
    shuffle_strip,
)

NORMS = {"|x|": np.array([3.0, 4.0, 5.0]), "|p|": np.array([1.0, 1.0, 1.0])}
TOKENS = ("[CLS]", "film", "[SEP]")


def test_a_longer_vector_stands_higher_and_zero_is_in_sight():
    chart = norm_curves(NORMS, TOKENS)
    *_, points = drawn(chart, width=600)
    assert points[2]["y"] < points[1]["y"] < points[0]["y"] < points[3]["y"] < chart.specification["height"]
    assert [point["x"] for point in points[:3]] == [0, points[1]["x"], 2 * points[1]["x"]]


def test_one_token_has_a_point():
    *_, points = drawn(norm_curves({"|x|": np.ones(1)}, ("a",)), width=600)
    assert len(points) == 1


ERRORS = {"with": np.zeros(3), "without": np.array([1.0, 0.5, 0.25])}


def test_a_line_a_map_in_the_order_given():
    figure = error_curves(ERRORS)
    assert figure.frame["error"].tolist() == [0, 0, 0, 1, 0.5, 0.25]
    assert figure.frame["t"].tolist() == [0, 1, 2] * 2


OFFSETS = np.array([-1, 0, 1])
FORMULA = np.array([1.5, 2.0, 1.5])


def test_the_formula_runs_through_what_was_measured():
    chart = offset_curve(OFFSETS, FORMULA + 0.25, FORMULA, what="distance", law="Σ cos")
    assert chart.frame["formula"].tolist() == [1.5, 2, 1.5]
    assert chart.frame["measured"].tolist() == [1.75, 2.25, 1.75]
    (dots,) = drawn(chart, width=400)
    assert len(dots) == 3


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


def test_bars_stand_in_the_order_given_with_name_place_and_number():
    bars, names, numbers = drawn(
        neighbour_bars(("great", "great"), (0.75, 0.5), word="good", positions=(3, None)), width=400
    )
    assert [name["text"] for name in names] == ["great 3", "great"]
    assert [number["text"] for number in numbers] == ["0.750", "0.500"]
    assert bars[0]["y"] < bars[1]["y"]
    assert bars[0]["width"] == pytest.approx(1.5 * bars[1]["width"])


def test_a_bar_below_zero_goes_to_the_left_and_leaves_its_number_beside_it():
    bars, names, numbers = drawn(neighbour_bars(("a", "b"), (0.5, -0.5), word="c"), width=400)
    assert bars[1]["x"] + bars[1]["width"] == pytest.approx(bars[0]["x"])
    assert numbers[1]["x"] == pytest.approx(bars[0]["x"])
    assert names[0]["x"] < bars[1]["x"]


def test_two_bars_a_layer():
    sees, holds = np.array([[2, 2], [3, 0]]), np.array([[2, 2], [5, 2]])
    rows = reach_bars(sees, holds, axis_end=9, names=["L0", "L1"]).frame.set_index(["bar", "layer"])
    assert rows.loc[(SEES, "L1"), ["before", "after"]].tolist() == [-3, 0]
    assert rows.loc[(HOLDS, "L1"), ["before", "after"]].tolist() == [-5, 2]


def test_the_axis_names_the_token_itself():
    reached = np.full((3, 2), 19)
    figure = reach_bars(reached, reached, axis_end=19, names=["L0", "L1", "L2"])
    assert {"−10", "0", "10"} <= set(shown_texts(figure, width=1200))


def test_shares_of_a_head_sum_to_one():
    figure = map_shares({"a": np.array([1.0, 3.0]), "b": np.array([3.0, 1.0])}, head=1)
    rows = figure.frame.set_index(["head", "map"])
    assert rows["share"].to_dict() == pytest.approx(
        {(0, "a"): 0.25, (0, "b"): 0.75, (1, "a"): 0.75, (1, "b"): 0.25}
    )
    assert rows.loc[(1, "a"), "size"] == 3
    assert figure.frames["chosen"]["head"].tolist() == [1]
