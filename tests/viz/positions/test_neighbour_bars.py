import pytest

from tests.viz.scene import drawn
from viz.positions.neighbour_bars import neighbour_bars


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


def test_no_neighbours_make_an_empty_chart():
    assert drawn(neighbour_bars((), (), word="c"), width=400) == [[], [], []]


def test_what_differs_in_number_is_refused():
    with pytest.raises(ValueError, match=r"expected shape \(1,\), got cosines of \(2,\)"):
        neighbour_bars(("a",), (0.5, 0.25), word="c")
