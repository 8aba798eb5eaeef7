import numpy as np
import pytest

from viz.palette import ATTENTION, DIFFERENCE
from viz.positions.offset_heatmap import offset_heatmap


def test_values_without_a_sign_go_from_0_to_the_largest():
    figure = offset_heatmap(np.array([[0.0, 3.0], [3.0, 0.0]]), what="distance")
    (values,) = figure.data
    assert (values.zmin, values.zmax) == (0, 3)
    assert values.colorbar.title.text == "distance,<br>0 to the maximum"
    assert [stop[1] for stop in values.colorscale] == list(ATTENTION)
    assert figure.layout.yaxis.autorange == "reversed"


def test_signed_values_are_symmetric_about_0():
    (values,) = offset_heatmap(np.array([[2.0, -1.0], [-1.0, 2.0]]), what="dot product").data
    assert (values.zmin, values.zmax) == (-2, 2)
    assert [stop[1] for stop in values.colorscale] == list(DIFFERENCE)


def test_only_a_square_is_drawn():
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        offset_heatmap(np.zeros((1, 2)), what="distance")
