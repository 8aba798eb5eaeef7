from functools import partial

import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.compare import stage_maps as module
from viz.compare.stage_maps import stage_similarity

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


norm_heatmap = partial(module.norm_heatmap, limit=8)
NORMS = np.array([[1.0, 2.0, 3.0], [4.0, 8.0, 6.0]])


def test_stages_are_rows_and_tokens_are_columns():
    (trace,) = norm_heatmap(NORMS, ("embed", "L0 mid"), ("the", "<b>", "the")).specification.data
    assert np.asarray(trace.z).tolist() == NORMS.tolist()
    assert list(trace.y) == ["embed", "L0 mid"]
    assert list(trace.x) == ["0 the", "&lt;b&gt;", "2 the"]
    assert (trace.zmin, trace.zmax) == (0, 8)


def test_both_sides_reach_to_the_same_length():
    (trace,) = module.norm_heatmap(NORMS / 4, ("embed", "L0 mid"), "abc", limit=8).specification.data
    assert (trace.zmin, trace.zmax) == (0, 8)


def test_norms_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(2, 2\), got norms of \(2, 3\)"):
        norm_heatmap(NORMS, ("embed", "L0 mid"), "ab")


def test_no_tokens_make_an_empty_figure_with_its_axes():
    assert norm_heatmap(np.zeros((0, 0)), (), ()).specification.layout.xaxis.title.text == "token"
