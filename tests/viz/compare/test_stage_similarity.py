import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.compare.stage_similarity import stage_similarity

VALUES = np.array([[np.nan, 0.25, 1.0], [0.5, 0.75, np.nan]])


def heatmap(values=VALUES, **options):
    rows, columns = ("z", "a")[: len(values)], ("q", "p", "o")[: values.shape[1]]
    options = {"names": ("pre", "post"), "what": "CKA", "signed": False, "side": 300} | options
    return stage_similarity(values, rows, columns, **options)


def test_rows_and_columns_stand_as_given_even_where_nothing_is_defined():
    cells, text, _ = drawn(heatmap())
    assert len(cells) == 6
    assert [mark["text"] for mark in sorted(text, key=lambda mark: (mark["y"], mark["x"]))] == [
        "–", "0.25", "1.00", "0.50", "0.75", "–",
    ]  # fmt: skip


def test_hover_says_why_a_number_is_missing():
    assert heatmap(undefined="all alike").frame["exact"].tolist() == [
        "all alike",
        "0.2500",
        "1.0000",
        "0.5000",
        "0.7500",
        "all alike",
    ]


def test_cells_too_small_for_numbers_have_none():
    names = [f"s{number}" for number in range(30)]
    options = {"names": ("a", "b"), "what": "CKA", "signed": False, "side": 300}
    assert len(drawn(stage_similarity(np.ones((30, 30)), names, names, **options))) == 2


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(1, 1\), got values of \(2, 2\)"):
        stage_similarity(np.eye(2), ("a",), ("b",), names=("a", "b"), what="", signed=False, side=300)
