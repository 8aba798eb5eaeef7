import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.masks.row_sums import row_sums
from viz.palette import ACCENT


def test_a_bar_is_as_high_as_its_row_sums_up_to():
    bars, (one,) = drawn(row_sums(np.array([[0.5, 0.5], [0.25, 0.0]]), ("a", "b"), query=1), width=300)
    heights = [bar["height"] for bar in bars]
    assert heights[1] == pytest.approx(heights[0] / 4)
    assert one["y"] == pytest.approx(bars[0]["y"])
    assert [bar["stroke"] == ACCENT for bar in bars] == [False, True]
