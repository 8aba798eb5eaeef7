import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.figure import VegaFigure
from viz.similarity.similarity_matrix import similarity_matrix

VALUES = np.array([[0.5, -0.25, 0.0], [0.125, 0.25, 0.0625]])
ROWS, COLUMNS = ("0 not", "1 good"), ("0 not", "1 bad", "its own state")


def figure(values: np.ndarray = VALUES, rows: tuple = ROWS, columns: tuple = COLUMNS) -> VegaFigure:
    return similarity_matrix(values, rows, columns)


def test_each_pair_stands_in_its_row_and_column_and_the_title_has_their_sum():
    cells, numbers, cover = drawn(figure())
    assert [mark["text"] for mark in numbers] == ["+0.50", "−0.25", "", "+0.12", "+0.25", "+0.06"]
    assert [cell["description"] for cell in cover[:3]] == [f"0 not and {name}" for name in COLUMNS]
    x, y = ([cell[side] for cell in cells] for side in "xy")
    assert x[:3] == x[3:] == sorted(x[:3])
    assert y[0] == y[2] < y[3] == y[5]
    assert "cosine similarity 0.6875, by pairs" in str(figure().specification["title"])


def test_each_pair_has_the_sums_of_its_row_and_column_beside_it():
    pair = figure().frame.iloc[1]
    assert (pair["row"], pair["column"], pair["exact"]) == ("0 not", "1 bad", "−0.25")
    assert (pair["row_sum"], pair["column_sum"]) == (0.25, 0.0)


def test_cells_that_do_not_add_up_to_the_cosine_are_called_what_they_are():
    specification = similarity_matrix(VALUES, ROWS, COLUMNS, effect="effect of both").specification
    assert "effect of both, by pairs" in str(specification["title"])
    assert "cosine similarity" not in str(specification["description"])
    assert "pairs has as effect of both" in specification["description"]


def test_what_adds_and_what_takes_away_differ_in_colour_and_nothing_has_none():
    cells, *_ = drawn(figure())
    assert cells[0]["fill"] != cells[1]["fill"]
    assert cells[2]["fill"].endswith(", 0)")


def test_equal_tokens_keep_rows_of_their_own_and_small_cells_have_no_numbers():
    names = tuple(f"{index} film" for index in range(60))
    cells, cover = drawn(figure(np.eye(60) / 60, names, names))
    assert len({cell["x"] for cell in cells}) == len({cell["y"] for cell in cells}) == 60
    assert len(cover) == 3600


def test_a_matrix_that_no_browser_draws_is_refused():
    with pytest.raises(ValueError, match="a matrix of 1,000 × 100 cells is too large to be drawn"):
        figure(np.zeros((1000, 100)), ("a",) * 1000, ("b",) * 100)


def test_colours_end_at_the_largest_cell_of_two_tokens():
    """What belongs to no token may be far more, also with a token: its number tells."""
    values = np.array([[0.5, 2.0], [0.25, 8.0]])
    names = ("0 film", "its own state")
    chart = similarity_matrix(values, names, names, others=(1, 1))
    cells, numbers, _ = drawn(chart)
    assert cells[0]["fill"] == cells[1]["fill"] == cells[3]["fill"] != cells[2]["fill"]
    assert [mark["text"] for mark in numbers] == ["+0.50", "+2.00", "+0.25", "+8.00"]


def test_of_a_token_the_invisible_is_marked_and_the_space_behind_its_number_is_none():
    chart = figure(np.ones((2, 1)), ("0 a\tb", "its own state"), ("0 [CLS]",))
    assert chart.frame["row"].tolist() == ["0 a⇥b", "its own state"]
