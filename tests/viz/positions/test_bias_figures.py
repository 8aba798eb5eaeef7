import numpy as np
import pytest

from viz.positions.bias_figures import (
    bias_curves,
    bias_maps,
    distance_curves,
    offset_map,
    pair_map,
    score_curves,
    short_length,
)

OFFSETS = np.array([-1, 0, 1])
SCORED_OFFSETS = np.array([-1, 0, 1, 2])
PARTS = {"fast": np.array([1.0, 2, 3, 4]), "slow": np.array([0.0, 0, 1, 1])}


def test_a_curve_for_each_head_with_its_name_at_the_end():
    figure = bias_curves(OFFSETS, np.array([[1.0, 2, 3], [0, 0, 3]]), head=0)
    rows = figure.frame.set_index(["head", "offset"])
    assert rows.loc[(1, 1), "bias"] == 3
    assert rows.loc[0, "chosen"].all()
    ends = figure.frames["ends"]
    assert ends["head"].tolist() == [1, 0]  # the chosen one lies on top
    assert abs(np.diff(ends["bias"])[0]) > 0.1  # names of curves that end together lie apart
    assert ends["bias"].mean() == pytest.approx(3)


def test_a_map_for_each_head_about_the_own_patch():
    by_head = np.arange(18.0).reshape(2, 3, 3)
    rows = bias_maps(by_head, head=1).frame.set_index(["head", "row", "column"])["bias"]
    assert (rows[0, 0, 0], rows[1, -1, 1], rows[1, 1, -1]) == (4, 11, 15)


def test_the_offset_of_a_pair_is_framed():
    figure = offset_map(np.arange(15.0).reshape(3, 5), what="score", offset=(1, -2))
    (shape,) = figure.specification.layout.shapes
    assert (shape.x0, shape.y0) == (-0.5, 1.5)
    assert figure.frame.loc["1", "−2"] == 10


def test_every_part_and_their_sum_stand_at_their_offsets():
    figure = score_curves(SCORED_OFFSETS, PARTS, sum(PARTS.values()), own_offset=1, window=(-1, 1))
    rows = figure.frame.set_index(["part", "offset"])["amount"]
    assert (rows["fast", 1], rows["slow", 2]) == (3, 1)
    assert figure.frames["total"]["amount"].tolist() == [1, 2, 4, 5]
    assert figure.frames["masked"].to_dict("records") == [{"from": 1, "to": 2}]
    assert figure.frames["chosen"]["offset"].tolist() == [1]


def test_without_a_window_nothing_is_grey():
    assert score_curves(SCORED_OFFSETS, PARTS, PARTS["fast"], own_offset=0).frames["masked"].empty


def test_a_row_for_each_pair():
    by_pair = np.arange(8.0).reshape(2, 4)
    figure = pair_map(by_pair, SCORED_OFFSETS.tolist(), np.array([6.2832, 1234.5]), own_offset=2)
    np.testing.assert_array_equal(figure.frame, by_pair)
    assert list(figure.frame.index) == ["0: λ 6.28", "1: λ 1,234"]
    assert list(figure.frame.columns) == ["−1", "0", "1", "2"]
    (shape,) = figure.specification.layout.shapes
    assert (shape.x0, shape.x1) == (2.5, 3.5)


def test_wavelengths_are_short():
    assert [short_length(wave) for wave in (6.28318, 99.51, 125_663.7)] == ["6.28", "99.5", "125,664"]


def test_every_distance_value_stands_at_its_offset():
    offsets = np.array([-1, 0, 1])
    figure = distance_curves(offsets, {"head 0": np.array([1.0, 2, 3]), "head 1": -offsets}, what="bias")
    rows = figure.frame
    assert rows["offset"].tolist() == [-1, 0, 1] * 2
    assert rows["amount"].tolist() == [1, 2, 3, 1, 0, -1]
    assert rows["curve"].tolist() == ["head 0"] * 3 + ["head 1"] * 3
