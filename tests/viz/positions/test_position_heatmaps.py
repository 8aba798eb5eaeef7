import numpy as np
import pytest

from viz.builders.palette import DIFFERENCE, WEIGHTS
from viz.positions.position_heatmaps import (
    learned_positions,
    pairs_of_positions,
    shift_of_positions,
    similarity_of_positions,
    sinusoid_table,
)

COSINES = np.array([[1, -0.5], [-0.5, 1]])
ROWS = np.array([[0, 1, 0, 1], [0.8, 0.5, 0.1, 1]], np.float32)


def test_similarities_are_those_given_on_a_fixed_scale():
    figure = similarity_of_positions(COSINES, ("[CLS]", "r0c0")).specification
    (trace,) = figure.data
    assert np.asarray(trace.z).tolist() == COSINES.tolist()
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert list(trace.y) == ["[CLS]", "r0c0"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == figure.layout.yaxis.title.text == "position"


def test_no_positions_make_an_empty_figure_with_its_axes():
    assert similarity_of_positions(np.zeros((0, 0)), ()).specification.layout.xaxis.title.text == "position"
    assert learned_positions(np.zeros((0, 4))).specification.layout.yaxis.title.text == "position"


def test_similarities_of_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(3, 3\), got cosines of \(2, 2\)"):
        similarity_of_positions(COSINES, ("a", "b", "c"))


def test_the_scale_of_learned_positions_is_symmetric_and_reaches_the_largest_value():
    table = np.array([[0.5, -2.0, 1.0], [0.0, 0.25, 0.0]])
    figure = learned_positions(table).specification
    (trace,) = figure.data
    assert np.asarray(trace.z).tolist() == table.tolist()
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert figure.layout.yaxis.autorange == "reversed"  # position 0 on top


def test_zeros_have_a_scale_too():
    (trace,) = learned_positions(np.zeros((2, 2))).specification.data
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_sinusoids_from_minus_1_to_1_with_position_0_on_top():
    figure = sinusoid_table(ROWS, position=0).specification
    values, _ = figure.data
    assert np.array_equal(values.z, ROWS)
    assert (values.zmin, values.zmax) == (-1, 1)
    assert figure.layout.yaxis.range == (1.5, -0.5)
    assert "%{z:.4f}" in values.hovertemplate


def test_the_row_is_framed_and_the_dimensions_marked():
    figure = sinusoid_table(ROWS, position=1, dimensions=[0, 3]).specification
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 3.5, 0.5, 1.5)
    assert list(figure.data[1].x) == [0, 3]


@pytest.mark.parametrize(("position", "dimensions"), [(2, []), (-1, []), (0, [4])])
def test_what_is_not_in_the_table_is_refused(position, dimensions):
    with pytest.raises(ValueError, match="2×4"):
        sinusoid_table(ROWS, position=position, dimensions=dimensions)


def test_the_block_of_the_pair_is_framed():
    figure = shift_of_positions(np.eye(6), pair=2).specification
    (values,) = figure.data
    assert np.array_equal(values.z, np.eye(6))
    assert (values.zmin, values.zmax) == (-1, 1)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (3.5, 5.5, 3.5, 5.5)


@pytest.mark.parametrize(("shape", "pair"), [((4, 4), 2), ((4, 4), -1), ((4, 2), 0)])
def test_a_block_that_there_is_not(shape, pair):
    with pytest.raises(ValueError, match=f"no block {pair} in a matrix"):
        shift_of_positions(np.zeros(shape), pair=pair)


def test_pairs_without_a_sign_go_from_0_to_the_largest():
    figure = pairs_of_positions(np.array([[0.0, 3.0], [3.0, 0.0]]), what="distance").specification
    (values,) = figure.data
    assert (values.zmin, values.zmax) == (0, 3)
    assert values.colorbar.title.text == "distance, 0 to the maximum<br>\xa0"
    assert [stop[1] for stop in values.colorscale] == list(WEIGHTS)
    assert figure.layout.yaxis.autorange == "reversed"


def test_signed_pairs_are_symmetric_about_0():
    (values,) = pairs_of_positions(
        np.array([[2.0, -1.0], [-1.0, 2.0]]), what="dot product"
    ).specification.data
    assert (values.zmin, values.zmax) == (-2, 2)
    assert [stop[1] for stop in values.colorscale] == list(DIFFERENCE)


def test_only_a_square_of_pairs_is_drawn():
    with pytest.raises(ValueError, match=r"expected shape \(1, 1\), got matrix of \(1, 2\)"):
        pairs_of_positions(np.zeros((1, 2)), what="distance")
