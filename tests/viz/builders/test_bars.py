import numpy as np
import pytest
import vl_convert

from tests.viz.scene import drawn, whole
from viz.builders.bars import neighbour_bars, part_bars, probabilities
from viz.builders.figure import VegaFigure
from viz.builders.palette import EMPHASIS


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
    with pytest.raises(ValueError, match=r"expected shape \(3,\), got probabilities of \(2,\)"):
        probabilities(np.array([0.5, 0.5]), ["a", "b", "c"])


def test_bars_are_the_shares_in_the_order_given() -> None:
    bars, texts = drawn(part_bars(["b", "a", "c"], [500, 1500, 0], of="parameters"), width=460)
    assert [bar["width"] for bar in bars] == pytest.approx([bars[0]["width"], 3 * bars[0]["width"], 0])
    assert [text["text"] for text in texts] == ["500 · 25.0\u2009%", "1.5 k · 75.0\u2009%", "0"]
    assert [bar["fill"] == EMPHASIS for bar in bars] == [False, True, False]


def test_a_share_is_not_rounded_to_nothing() -> None:
    _, texts = drawn(part_bars(["a", "b"], [1, 9999], of="parameters"))
    assert texts[0]["text"] == "1 · <0.1\u2009%"


def test_the_largest_bar_leaves_room_for_its_text() -> None:
    bars, _ = drawn(part_bars(["a"], [37_858_304], of="parameters"), width=300)
    assert bars[0]["width"] < 300 - 80


def test_hover_gives_the_exact_count() -> None:
    figure = part_bars(["a", "b"], [37_858_304, 1], of="multiply-adds")
    assert figure.frame["exact"].tolist() == ["37,858,304", "1"]
    said = [tip["field"] for tip in figure.specification["layer"][0]["encoding"]["tooltip"]]
    assert said == ["part", "exact", "percent"]
    assert figure.frame["percent"].tolist() == ["100.00\u2009%", "0.00\u2009%"]


@pytest.mark.parametrize("values", [[], [0, 0]])
def test_nothing_counted_makes_bars_of_no_length(values: list[int]) -> None:
    bars, _ = drawn(part_bars([str(at) for at in range(len(values))], values, of="parameters"))
    assert all(bar["width"] == 0 for bar in bars)


def test_names_must_fit_the_parts() -> None:
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got values of \(1,\)"):
        part_bars(["a", "b"], [1], of="parameters")


def test_bars_stand_in_the_order_given_with_name_place_and_number():
    bars, names, numbers = drawn(
        neighbour_bars(("great", "great"), (0.75, 0.5), of="good", places=(3, None)), width=400
    )
    assert [name["text"] for name in names] == ["great 3", "great"]
    assert [number["text"] for number in numbers] == ["0.750", "0.500"]
    assert bars[0]["y"] < bars[1]["y"]
    assert bars[0]["width"] == pytest.approx(1.5 * bars[1]["width"])


def test_a_bar_below_zero_goes_to_the_left_and_leaves_its_number_beside_it():
    bars, names, numbers = drawn(neighbour_bars(("a", "b"), (0.5, -0.5), of="c"), width=400)
    assert bars[1]["x"] + bars[1]["width"] == pytest.approx(bars[0]["x"])
    assert numbers[1]["x"] == pytest.approx(bars[0]["x"])
    assert names[0]["x"] < bars[1]["x"]


def test_no_neighbours_make_an_empty_chart():
    assert drawn(neighbour_bars((), (), of="c"), width=400) == [[], [], []]


def test_what_differs_in_number_is_refused():
    with pytest.raises(ValueError, match=r"expected shape \(1,\), got cosines of \(2,\)"):
        neighbour_bars(("a",), (0.5, 0.25), of="c")


def test_the_total_is_below_and_comes_with_the_data() -> None:
    one, other = (part_bars(["a"], [count], of="parameters") for count in (37_858_304, 5))
    assert one.specification["title"] == other.specification["title"]
    assert [title_of(figure) for figure in (one, other)] == [
        "share of 37,858,304 parameters",
        "share of 5 parameters",
    ]


def title_of(figure: VegaFigure) -> str:
    scene = vl_convert.vegalite_to_scenegraph(whole(figure))
    (title,) = (mark for mark in scene["scenegraph"]["items"][0]["items"] if mark["role"] == "title")
    return title["items"][0]["items"][0]["items"][0]["text"]
