import numpy as np
import pytest

from viz.positions.sinusoid_heatmap import sinusoid_heatmap

ROWS = np.array([[0, 1, 0, 1], [0.8, 0.5, 0.1, 1]], np.float32)


def test_values_from_minus_1_to_1_with_position_0_on_top():
    figure = sinusoid_heatmap(ROWS, position=0)
    values, _ = figure.data
    assert np.array_equal(values.z, ROWS)
    assert (values.zmin, values.zmax) == (-1, 1)
    assert figure.layout.yaxis.range == (1.5, -0.5)
    assert "%{z:.4f}" in values.hovertemplate


def test_the_row_is_framed_and_the_dimensions_marked():
    figure = sinusoid_heatmap(ROWS, position=1, dimensions=[0, 3])
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 3.5, 0.5, 1.5)
    assert list(figure.data[1].x) == [0, 3]


@pytest.mark.parametrize(("position", "dimensions"), [(2, []), (-1, []), (0, [4])])
def test_what_is_not_in_the_table_is_refused(position, dimensions):
    with pytest.raises(ValueError, match="2×4"):
        sinusoid_heatmap(ROWS, position=position, dimensions=dimensions)
