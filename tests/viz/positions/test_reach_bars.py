import numpy as np
import pytest

from viz.positions.reach_bars import HOLDS, SEES, reach_bars


def test_two_bars_a_layer() -> None:
    sees, holds = np.array([[2, 2], [3, 0]]), np.array([[2, 2], [5, 2]])
    rows = reach_bars(sees, holds, half=9, names=["L0", "L1"]).frame.set_index(["bar", "layer"])
    assert rows.loc[(SEES, "L1"), ["before", "after"]].tolist() == [-3, 0]
    assert rows.loc[(HOLDS, "L1"), ["before", "after"]].tolist() == [-5, 2]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="holds"):
        reach_bars(np.zeros((2, 2)), np.zeros((1, 2)), half=9, names=["L0", "L1"])
