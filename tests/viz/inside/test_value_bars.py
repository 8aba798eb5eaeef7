import numpy as np
import pytest

from tests.viz.scene import drawn, whole
from viz.builders.palette import ACCENT, TO_ONE, WeightScale
from viz.inside.value_bars import value_bars

VALUES = {"0 a": 1.0, "1 b": -2.0, "2 c": 4.0}


def test_bars_from_a_common_zero_in_the_colour_of_their_sign():
    bars, texts, _ = drawn(value_bars(VALUES, what="score"), width=700)
    assert [text["text"] for text in texts] == ["1.00", "−2.00", "4.00"]
    assert [bar["width"] for bar in bars] == pytest.approx([bars[0]["width"] * times for times in (1, 2, 4)])
    assert bars[1]["x"] + bars[1]["width"] == pytest.approx(bars[0]["x"]) == pytest.approx(bars[2]["x"])
    assert bars[0]["fill"] == bars[2]["fill"] != bars[1]["fill"]


def test_numbers_stand_beside_the_longer_of_two_bars():
    before = {name: 3 * value for name, value in VALUES.items()}
    chart = value_bars(VALUES, what="score", before=before, was="q · k")
    bars, outlines, texts, _ = drawn(chart, width=700)
    assert [outline["width"] for outline in outlines] == pytest.approx([3 * bar["width"] for bar in bars])
    assert texts[0]["x"] == pytest.approx(outlines[0]["x"] + outlines[0]["width"])
    assert texts[1]["x"] == pytest.approx(outlines[1]["x"])
    assert [text["align"] for text in texts] == ["left", "right", "left"]
    assert all(0 < text["x"] < 700 for text in texts)


def test_an_activation_can_turn_a_sign():
    bars, outlines, _, _ = drawn(value_bars({"u": -0.1}, what="after", before={"u": -2.0}, was="before"))
    assert outlines[0]["width"] == pytest.approx(20 * bars[0]["width"])


@pytest.mark.parametrize(("scale", "share"), [(WeightScale(0.4, "0 to its maximum"), 1), (TO_ONE, 0.4)])
def test_attention_weights_reach_as_far_as_the_colours_of_the_maps(scale, share):
    bars, _, cover = drawn(value_bars({"a": 0.1, "b": 0.4}, what="weight", weights=scale))
    assert bars[1]["width"] == pytest.approx(share * cover[0]["width"] / 1.16)
    assert bars[0]["fill"] == bars[1]["fill"]


def test_a_masked_key_says_so_and_has_no_bar():
    bars, texts, _ = drawn(value_bars({"a": np.nan, "b": 0.4}, what="weight", weights=TO_ONE))
    assert [text["text"] for text in texts] == ["masked", "0.400"]
    assert len(bars) == 1


def test_the_chosen_one_is_framed_and_a_click_names_its_row():
    chart = value_bars(VALUES, what="score", chosen="1 b", clicks=True)
    cover = drawn(chart)[-1]
    assert [box["stroke"] == ACCENT for box in cover] == [False, True, False]
    (click,) = (each for each in whole(chart)["params"] if "select" in each)
    assert (click["name"], click["select"]["fields"]) == ("row", ["row"])
    assert click["views"] == [whole(chart)["layer"][-1]["name"]]


def test_equal_tokens_are_told_apart_by_their_names():
    bars, _, _ = drawn(value_bars({"0 the": 1.0, "1 the": 2.0}, what="score"))
    assert len({bar["y"] for bar in bars}) == 2


def test_zeros_and_nothing_can_be_drawn():
    assert len(drawn(value_bars({"a": 0.0}, what="score"))[0]) == 1
    assert drawn(value_bars({}, what="score")) == [[], [], []]
