import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.palette import EMPHASIS
from viz.probabilities import probabilities


def test_bars_keep_the_order_of_the_classes_and_show_their_share():
    bars, texts = drawn(probabilities(np.array([0.2, 0.7, 0.1]), ["b", "c", "a"]), width=460)
    assert [text["text"] for text in texts] == ["20.0 %", "70.0 %", "10.0 %"]
    assert bars[0]["y"] < bars[1]["y"] < bars[2]["y"]
    widths = [bar["width"] for bar in bars]
    assert widths == pytest.approx([widths[2] * 2, widths[2] * 7, widths[2]])


def test_the_largest_alone_is_emphasised():
    bars, _ = drawn(probabilities(np.array([0.2, 0.7, 0.1]), ["b", "c", "a"]))
    assert [bar["fill"] == EMPHASIS for bar in bars] == [False, True, False]


@pytest.mark.parametrize("width", [160, 220, 400, 900])
def test_a_full_bar_leaves_room_for_its_text(width):
    bars, texts = drawn(probabilities(np.array([0.9999, 0.0001]), ["a", "b"]), width=width)
    assert texts[0]["text"] == ">99.9 %"
    assert bars[0]["width"] + 50 < width - 10  # the names of the classes take some as well


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0 %"),
        (0.0003, "<0.1 %"),
        (0.0005, "0.1 %"),
        (0.123, "12.3 %"),
        (0.9994, "99.9 %"),
        (0.9997, ">99.9 %"),
        (1.0, "100.0 %"),
    ],
)
def test_nothing_is_rounded_to_certainty(value, text):
    _, texts = drawn(probabilities(np.array([value]), ["a"]))
    assert texts[0]["text"] == text


def test_what_is_one_in_single_precision_is_not_certain_beside_another_class():
    _, texts = drawn(probabilities(np.array([1.0, 3e-9], dtype=np.float32), ["a", "b"]))
    assert [text["text"] for text in texts] == [">99.9 %", "<0.1 %"]


def test_hover_gives_the_class_and_its_probability():
    spec = probabilities(np.array([0.25, 0.75]), ["negative", "positive"]).specification
    shown = spec["layer"][0]["encoding"]["tooltip"]
    assert [(field["field"], field.get("format")) for field in shown] == [
        ("class", None),
        ("probability", ".4f"),
    ]


def test_no_classes_make_an_empty_chart():
    assert drawn(probabilities(np.zeros(0), [])) == [[], []]


def test_names_must_fit_the_values():
    with pytest.raises(ValueError, match="3 class names"):
        probabilities(np.array([0.5, 0.5]), ["a", "b", "c"])
