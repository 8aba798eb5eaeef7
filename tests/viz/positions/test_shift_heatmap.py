import numpy as np
import pytest

from viz.positions.shift_heatmap import shift_heatmap


def test_the_block_of_the_pair_is_framed():
    figure = shift_heatmap(np.eye(6), pair=2)
    (values,) = figure.data
    assert np.array_equal(values.z, np.eye(6))
    assert (values.zmin, values.zmax) == (-1, 1)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (3.5, 5.5, 3.5, 5.5)


@pytest.mark.parametrize(("shape", "pair"), [((4, 4), 2), ((4, 4), -1), ((4, 2), 0)])
def test_a_block_that_there_is_not(shape, pair):
    with pytest.raises(ValueError, match=f"no block {pair} in a matrix"):
        shift_heatmap(np.zeros(shape), pair=pair)
