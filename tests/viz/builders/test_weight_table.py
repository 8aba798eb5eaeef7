import numpy as np
import pytest

from viz.builders.weight_table import weight_table

WEIGHTS = np.arange(12.0).reshape(2, 3, 2)


def test_each_index_of_the_leading_axes_is_a_row() -> None:
    table = weight_table(WEIGHTS, {"layer": None, "query": ["a", "b", "c"]}, ["x", "y"])
    assert list(table.columns) == ["layer", "query", "x", "y"]
    assert table["layer"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table["query"].tolist() == ["a", "b", "c"] * 2
    assert table["x"].tolist() == [0, 2, 4, 6, 8, 10]
    assert table["y"].tolist() == [1, 3, 5, 7, 9, 11]


def test_a_key_may_be_called_like_a_kind_of_row() -> None:
    table = weight_table(WEIGHTS, {"layer": None, "query": None}, ["query", "layer"])
    assert list(table.columns) == ["layer", "query", "query", "layer"]


@pytest.mark.parametrize(
    ("rows", "columns"), [({"layer": None}, ["x", "y"]), ({"layer": None, "query": None}, ["x"])]
)
def test_names_that_do_not_fit_are_refused(rows: dict, columns: list[str]) -> None:
    with pytest.raises(ValueError, match=r"kinds of rows and \d columns for weights \(2, 3, 2\)"):
        weight_table(WEIGHTS, rows, columns)
