import numpy as np

from viz.positions.checkpoint_table import checkpoint_table


def test_the_scale_is_symmetric_and_reaches_the_largest_value():
    table = np.array([[0.5, -2.0, 1.0], [0.0, 0.25, 0.0]])
    figure = checkpoint_table(table)
    (trace,) = figure.data
    assert np.asarray(trace.z).tolist() == table.tolist()
    assert (trace.zmin, trace.zmax) == (-2, 2)
    assert figure.layout.yaxis.autorange == "reversed"  # position 0 on top


def test_zeros_have_a_scale_too():
    (trace,) = checkpoint_table(np.zeros((2, 2))).data
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_no_positions_make_an_empty_figure_with_its_axes():
    assert checkpoint_table(np.zeros((0, 4))).layout.yaxis.title.text == "position"
