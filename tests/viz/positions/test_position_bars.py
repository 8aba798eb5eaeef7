import numpy as np
import pytest

from tests.viz.scene import drawn, scene
from viz.positions.position_bars import HOLDS, SEES, map_shares, neighbour_bars, reach_bars


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


def test_two_bars_a_layer() -> None:
    sees, holds = np.array([[2, 2], [3, 0]]), np.array([[2, 2], [5, 2]])
    rows = reach_bars(sees, holds, half=9, names=["L0", "L1"]).frame.set_index(["bar", "layer"])
    assert rows.loc[(SEES, "L1"), ["before", "after"]].tolist() == [-3, 0]
    assert rows.loc[(HOLDS, "L1"), ["before", "after"]].tolist() == [-5, 2]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="holds"):
        reach_bars(np.zeros((2, 2)), np.zeros((1, 2)), half=9, names=["L0", "L1"])


def test_the_axis_names_the_token_itself() -> None:
    reached = np.full((3, 2), 19)
    figure = reach_bars(reached, reached, half=19, names=["L0", "L1", "L2"])
    labels = shown_texts(scene(figure, width=1200))
    assert {"−10", "0", "10"} <= labels


def shown_texts(part: dict) -> set[str]:
    own = {str(part["text"])} if part.get("text") is not None and part.get("opacity", 1) > 0 else set()
    return own.union(*(shown_texts(item) for item in part.get("items", [])))


def test_shares_of_a_head_sum_to_one() -> None:
    figure = map_shares({"a": np.array([1.0, 3.0]), "b": np.array([3.0, 1.0])}, head=1)
    rows = figure.frame.set_index(["head", "map"])
    assert rows["share"].to_dict() == pytest.approx(
        {(0, "a"): 0.25, (0, "b"): 0.75, (1, "a"): 0.75, (1, "b"): 0.25}
    )
    assert rows.loc[(1, "a"), "size"] == 3
    assert figure.frames["chosen"]["head"].tolist() == [1]
