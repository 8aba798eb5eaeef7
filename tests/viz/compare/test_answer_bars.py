import numpy as np
import pandas as pd
import pytest

from tests.viz.scene import drawn, items, scene
from viz.builders.figure import VegaFigure
from viz.builders.palette import CATEGORIES, POST_LN, PRE_LN
from viz.compare.answer_bars import answer_bars

PARTS = (
    ("token", "token", None, None, 0.5),
    ("position", "position", None, None, -0.25),
    ("L0 H0", "head", 0, 0, 1.0),
    ("L0 H1", "head", 0, 1, -0.5),
    ("L0 feed-forward", "feed-forward", 0, None, 0.125),
    ("biases", "biases", None, None, 0.25),
)
SIXTH_LAYER = (("L1 H0", "head", 1, 0, 2.0), ("L1 feed-forward", "feed-forward", 1, None, 0.0))


def parts(*rows: tuple) -> pd.DataFrame:
    """A frame as `answer_parts` returns it."""
    frame = pd.DataFrame(rows or PARTS, columns=["part", "kind", "layer", "head", "value"])
    return frame.astype({"layer": "Int64", "head": "Int64"})


def effects(*values: float) -> pd.DataFrame:
    return parts().assign(effect=values)


def figure(**sides: pd.DataFrame) -> VegaFigure:
    return answer_bars(sides or {"a": parts()}, quantity="logit of x", height=100)


def bars(chart: VegaFigure, width: int = 800) -> list[dict]:
    return drawn(chart, width=width)[2]


def names(chart: VegaFigure, width: int) -> list[str]:
    """What stands below the bars, from left to right."""
    axes = [item for item in items(scene(chart, width=width)) if item.get("role") == "axis"]
    (labels,) = (
        part["items"]
        for axis in axes
        if axis["items"][0].get("orient") == "bottom"
        for part in items(axis)
        if part.get("role") == "axis-label"
    )
    return [label["text"] for label in labels]


def test_parts_stand_from_the_embedding_through_the_layers_to_the_biases():
    assert names(figure(), 800) == ["token", "position", "H0", "H1", "FF", "biases"]
    shuffled = answer_bars({"a": parts(*PARTS[::-1])}, quantity="x", height=100)
    assert names(shuffled, 800) == ["position", "token", "H0", "H1", "FF", "biases"]


def test_a_bar_reaches_from_zero_to_its_value():
    own = bars(figure())
    (line,) = {item["y"] for item in drawn(figure(), width=800)[3]}
    pixels = own[2]["height"]  # of one logit
    for bar, (*_, value) in zip(own, PARTS, strict=True):
        assert bar["height"] == pytest.approx(abs(value) * pixels)
        assert bar["y"] == pytest.approx(line - max(value, 0) * pixels)


def test_sides_stand_beside_each_other_in_their_colours():
    chart = answer_bars({"a": parts(), "b": parts()}, quantity="x", colours=(PRE_LN, POST_LN))
    one, other = bars(chart)[: len(PARTS)], bars(chart)[len(PARTS) :]
    assert [item["fill"] for item in (*one, *other)] == [PRE_LN] * 6 + [POST_LN] * 6
    for left, right in zip(one, other, strict=True):
        assert right["x"] == pytest.approx(left["x"] + left["width"])
    assert bars(figure())[0]["fill"] == CATEGORIES[0]


def test_a_side_without_a_layer_has_no_bar_there():
    chart = figure(short=parts(), long=parts(*PARTS[:-1], *SIXTH_LAYER, PARTS[-1]))
    assert names(chart, 800) == ["token", "position", "H0", "H1", "FF", "H0", "FF", "biases"]
    shown = chart.frame
    assert shown.groupby("side", sort=False)["part"].size().to_dict() == {"short": 6, "long": 8}
    layers = drawn(chart, width=800)[1]
    assert [layer["text"] for layer in layers] == ["L0", "L1"]


def test_where_a_name_does_not_fit_it_is_left_out():
    assert names(figure(), 240) == ["token", "", "H0", "H1", "FF", "biases"]
    assert "H0" not in names(figure(), 100)


def test_rows_of_a_head_by_token_are_added_up():
    by_token = ("L0 H0 from 0 a", "head", 0, 0, 0.75), ("L0 H0 from 1 from", "head", 0, 0, 0.25)
    whole, divided = (figure(a=parts(*PARTS[:2], *heads, *PARTS[3:])) for heads in (PARTS[2:3], by_token))
    pd.testing.assert_frame_equal(whole.frame, divided.frame)


def test_a_dot_says_how_much_the_number_falls_without_a_head():
    chart = figure(a=effects(np.nan, np.nan, 0.5, -0.5, np.nan, np.nan))
    dots, heads = drawn(chart, width=800)[4], bars(chart)[2:4]
    assert len(dots) == 2
    for dot, bar in zip(dots, heads, strict=True):
        assert dot["x"] == pytest.approx(bar["x"] + bar["width"] / 2)
        assert dot["fill"] == bar["fill"]
    assert dots[1]["y"] == pytest.approx(heads[1]["y"] + heads[1]["height"])  # of H1 effect and part are one


def test_the_heading_names_both_ends_the_sums_and_the_answers():
    chart = answer_bars(
        {"a": parts(), "b": parts(*PARTS[1:2])},
        quantity="logit of y minus x",
        answers=["y", "x"],
        ends=("x", "y"),
    )
    assert chart.specification["title"]["subtitle"] == [
        "sum of all bars: a +1.12, answer: y · b −0.25, answer: x",
        "up: towards y; down: towards x",
    ]
    assert figure().specification["title"]["subtitle"] == ["sum of all bars: a +1.12"]


def test_numbers_that_are_not_finite_leave_the_axis_to_the_others():
    values = [value for *_, value in PARTS]
    chart = figure(
        a=parts().assign(value=[np.nan, *values[1:]]), b=parts().assign(value=[np.inf, *values[1:]])
    )
    assert chart.specification["params"] == figure().specification["params"]
