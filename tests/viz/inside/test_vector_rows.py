import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, FALLS, RISES
from viz.inside.vector_rows import factor_bars, value_bars, vector_rows

ROWS = {"0 a": np.array([0.0, 2.0, -4.0]), "1 b": np.array([1.0, 0.0, 0.5])}
VALUES = {"0 a": 1.0, "1 b": -2.0, "2 c": 4.0}


def test_a_row_a_vector_and_a_cell_a_component():
    (cells,) = drawn(vector_rows(ROWS, what="x"), width=400)
    assert len(cells) == 6
    assert len({cell["y"] for cell in cells}) == 2
    assert cells[0]["y"] == cells[2]["y"] < cells[3]["y"]
    for before, after in ((0, 1), (1, 2)):
        assert cells[after]["x"] == pytest.approx(cells[before]["x"] + cells[before]["width"])


def test_colours_are_symmetric_about_zero_and_reach_to_the_largest_of_all_rows():
    (cells,) = drawn(vector_rows(ROWS, what="x"))
    assert cells[0]["fill"].endswith(", 0)")  # nothing to see
    assert [cells[index]["fill"] for index in (1, 2)] == ["rgba(154, 130, 0, 0.5)", "rgb(166, 60, 196)"]


def test_vectors_of_different_length_share_their_columns():
    (cells,) = drawn(vector_rows(ROWS | {"v": np.ones(5)}, what="x"))
    assert cells[6]["x"] == cells[0]["x"]
    assert cells[6]["width"] == pytest.approx(cells[0]["width"])


def test_totals_are_bars_from_a_common_zero_and_numbers():
    rows = ROWS | {"2 c": np.ones(3)}
    totals = {"0 a": -2.0, "1 b": 1.5, "2 c": 3.0}
    cells, bars, numbers = drawn(vector_rows(rows, what="x", totals=totals, total="sum"), width=600)
    assert [text["text"] for text in numbers] == ["−2.00", "1.50", "3.00"]
    assert [bar["width"] for bar in bars] == pytest.approx(
        [bars[2]["width"] * part for part in (2 / 3, 0.5, 1)]
    )
    assert bars[0]["x"] + bars[0]["width"] == pytest.approx(bars[1]["x"]) == pytest.approx(bars[2]["x"])
    assert [bar["fill"] for bar in bars] == [FALLS, RISES, RISES]
    assert min(bar["x"] for bar in bars) > max(cell["x"] + cell["width"] for cell in cells)
    assert max(text["x"] for text in numbers) <= 600


def test_a_row_without_a_total_has_no_bar():
    with_one = drawn(vector_rows(ROWS, what="x", totals={"1 b": 1.5}, total="sum"), width=400)
    assert [len(layer) for layer in with_one] == [6, 1, 1]


def test_the_chosen_row_alone_is_framed():
    cells, frames = drawn(vector_rows(ROWS, what="x", chosen="1 b"))
    assert [frame["stroke"] for frame in frames] == [ACCENT]
    assert frames[0]["y"] == cells[3]["y"]
    assert frames[0]["width"] == pytest.approx(sum(cell["width"] for cell in cells[3:]))


def test_groups_are_equally_wide_and_the_chosen_one_is_on_top():
    chart = vector_rows({"z": np.arange(8.0)}, what="z", groups=["H0", "H1", "H2", "H3"], chosen="H1")
    cells, frames = drawn(chart)
    assert [frame["stroke"] == ACCENT for frame in frames] == [False, False, False, True]
    assert frames[-1]["x"] == pytest.approx(cells[2]["x"])
    assert frames[-1]["width"] == pytest.approx(2 * cells[0]["width"])


def test_names_are_text_whatever_they_hold():
    names = ['0 "', "1 '</script>", "2 \\"]
    rows = {name: np.ones(2) for name in names}
    for name in names:
        assert len(drawn(vector_rows(rows, what="x", chosen=name))[1]) == 1


def test_zeros_and_nothing_can_be_drawn():
    (cells,) = drawn(vector_rows({"a": np.zeros(3)}, what="x"))
    assert all(cell["fill"].endswith(", 0)") for cell in cells)
    assert drawn(vector_rows({"a": np.zeros(0)}, what="x")) == [[]]


def test_what_the_numbers_belong_to_has_its_name():
    chart = vector_rows({"θ": np.array([1.0, 0.5])}, what="angle", numbered="pair")
    assert list(chart.frame["pair"]) == [0, 1]


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


def test_bars_of_zeros_can_be_drawn():
    assert len(drawn(bars_of({"a": 0.0}))[0]) == 1


COLUMNS = {"a": np.array([2.0, -1.0]), "b": np.array([0.5, 0.25]), "a · b": np.array([1.0, -0.25])}


def test_each_column_has_bars_on_its_own_scale_from_its_own_zero():
    bars, numbers = drawn(factor_bars(COLUMNS, ["unit 7", "unit 3"]), width=600)
    assert len(bars) == len(numbers) == 6
    first, second, _, _, product, other_product = bars
    assert first["width"] == pytest.approx(2 * second["width"])
    assert first["x"] == pytest.approx(second["x"] + second["width"])
    assert product["width"] == pytest.approx(4 * other_product["width"])
    assert [bar["fill"] for bar in bars] == [RISES, FALLS, RISES, RISES, RISES, FALLS]


def test_the_numbers_stand_at_the_right_of_their_column():
    _, numbers = drawn(factor_bars(COLUMNS, ["unit 7", "unit 3"]), width=600)
    assert [number["text"] for number in numbers] == ["2.00", "−1.00", "0.500", "0.250", "1.00", "−0.250"]
    assert numbers[0]["x"] == numbers[1]["x"] < numbers[2]["x"] < numbers[4]["x"]


def test_zeros_have_no_bars():
    bars, _ = drawn(factor_bars({"a": np.zeros(2)}, ["unit 0", "unit 1"]))
    assert all(bar["width"] == pytest.approx(0) for bar in bars)
