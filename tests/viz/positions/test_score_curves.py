import numpy as np
import pytest

from viz.positions.score_curves import MOST, distance_curves, pair_map, score_curves, short_length

OFFSETS = np.array([-1, 0, 1, 2])
PARTS = {"fast": np.array([1.0, 2, 3, 4]), "slow": np.array([0.0, 0, 1, 1])}


def test_every_part_and_their_sum_stand_at_their_offsets() -> None:
    figure = score_curves(OFFSETS, PARTS, sum(PARTS.values()), own_offset=1, window=(-1, 1))
    rows = figure.frame.set_index(["part", "offset"])["amount"]
    assert (rows["fast", 1], rows["slow", 2]) == (3, 1)
    assert figure.frames["total"]["amount"].tolist() == [1, 2, 4, 5]
    assert figure.frames["masked"].to_dict("records") == [{"from": 1, "to": 2}]
    assert figure.frames["chosen"]["offset"].tolist() == [1]


def test_without_a_window_nothing_is_grey() -> None:
    assert score_curves(OFFSETS, PARTS, PARTS["fast"], own_offset=0).frames["masked"].empty


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="slow"):
        score_curves(OFFSETS, {"slow": np.arange(3)}, np.arange(4), own_offset=0)
    with pytest.raises(ValueError, match="can be told apart"):
        score_curves(OFFSETS, {str(part): OFFSETS for part in range(7)}, OFFSETS, own_offset=0)
    with pytest.raises(ValueError, match="by_pair"):
        pair_map(np.zeros((2, 3)), OFFSETS.tolist(), np.ones(2), own_offset=0)


def test_a_row_for_each_pair() -> None:
    by_pair = np.arange(8.0).reshape(2, 4)
    figure = pair_map(by_pair, OFFSETS.tolist(), np.array([6.2832, 1234.5]), own_offset=2)
    np.testing.assert_array_equal(figure.frame, by_pair)
    assert list(figure.frame.index) == ["0: λ 6.28", "1: λ 1,234"]
    assert list(figure.frame.columns) == ["−1", "0", "1", "2"]
    (shape,) = figure.specification.layout.shapes
    assert (shape.x0, shape.x1) == (2.5, 3.5)


def test_wavelengths_are_short() -> None:
    assert [short_length(wave) for wave in (6.28318, 99.51, 125_663.7)] == ["6.28", "99.5", "125,664"]


def test_every_distance_value_stands_at_its_offset() -> None:
    offsets = np.array([-1, 0, 1])
    figure = distance_curves(offsets, {"head 0": np.array([1.0, 2, 3]), "head 1": -offsets}, what="bias")
    rows = figure.frame
    assert rows["offset"].tolist() == [-1, 0, 1] * 2
    assert rows["amount"].tolist() == [1, 2, 3, 1, 0, -1]
    assert rows["curve"].tolist() == ["head 0"] * 3 + ["head 1"] * 3


def test_distances_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="head 0"):
        distance_curves(np.arange(3), {"head 0": np.arange(2)}, what="bias")
    many = {str(index): np.arange(3) for index in range(MOST + 1)}
    with pytest.raises(ValueError, match="can be told apart"):
        distance_curves(np.arange(3), many, what="bias")
