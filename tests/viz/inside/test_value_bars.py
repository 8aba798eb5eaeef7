import pytest

from tests.viz.scene import drawn
from viz.inside.value_bars import value_bars

VALUES = {"0 a": 1.0, "1 b": -2.0, "2 c": 4.0}


def bars_of(values, before=None):
    return value_bars(values, what="after", before=before or values, was="before")


def test_bars_from_a_common_zero_in_the_colour_of_their_sign():
    bars, _, texts, _ = drawn(bars_of(VALUES), width=700)
    assert [text["text"] for text in texts] == ["1.00", "−2.00", "4.00"]
    assert [bar["width"] for bar in bars] == pytest.approx([bars[0]["width"] * times for times in (1, 2, 4)])
    assert bars[1]["x"] + bars[1]["width"] == pytest.approx(bars[0]["x"]) == pytest.approx(bars[2]["x"])
    assert bars[0]["fill"] == bars[2]["fill"] != bars[1]["fill"]


def test_numbers_stand_beside_the_longer_of_two_bars():
    before = {name: 3 * value for name, value in VALUES.items()}
    bars, outlines, texts, _ = drawn(bars_of(VALUES, before), width=700)
    assert [outline["width"] for outline in outlines] == pytest.approx([3 * bar["width"] for bar in bars])
    assert texts[0]["x"] == pytest.approx(outlines[0]["x"] + outlines[0]["width"])
    assert texts[1]["x"] == pytest.approx(outlines[1]["x"])
    assert [text["align"] for text in texts] == ["left", "right", "left"]
    assert all(0 < text["x"] < 700 for text in texts)


def test_an_activation_can_turn_a_sign():
    bars, outlines, _, _ = drawn(bars_of({"u": -0.1}, {"u": -2.0}))
    assert outlines[0]["width"] == pytest.approx(20 * bars[0]["width"])


def test_zeros_and_nothing_can_be_drawn():
    assert len(drawn(bars_of({"a": 0.0}))[0]) == 1
    assert drawn(bars_of({})) == [[], [], [], []]
