import numpy as np
import pytest

from viz.builders.palette import CATEGORIES
from viz.positions.distance_curves import distance_curves


def test_every_value_stands_at_its_offset() -> None:
    offsets = np.array([-1, 0, 1])
    figure = distance_curves(offsets, {"head 0": np.array([1.0, 2, 3]), "head 1": -offsets}, what="bias")
    rows = figure.frame
    assert rows["offset"].tolist() == [-1, 0, 1] * 2
    assert rows["amount"].tolist() == [1, 2, 3, 1, 0, -1]
    assert rows["curve"].tolist() == ["head 0"] * 3 + ["head 1"] * 3


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="head 0"):
        distance_curves(np.arange(3), {"head 0": np.arange(2)}, what="bias")
    many = {str(index): np.arange(3) for index in range(len(CATEGORIES) + 1)}
    with pytest.raises(ValueError, match="can be told apart"):
        distance_curves(np.arange(3), many, what="bias")
