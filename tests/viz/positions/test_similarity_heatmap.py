import numpy as np
import pytest

from viz.positions.similarity_heatmap import similarity_heatmap

COSINES = np.array([[1, -0.5], [-0.5, 1]])


def test_the_values_are_those_given_on_a_fixed_scale():
    figure = similarity_heatmap(COSINES, ("[CLS]", "r0c0"))
    (trace,) = figure.data
    assert np.asarray(trace.z).tolist() == COSINES.tolist()
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert list(trace.y) == ["[CLS]", "r0c0"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text == figure.layout.yaxis.title.text == "position"


def test_no_positions_make_an_empty_figure_with_its_axes():
    assert similarity_heatmap(np.zeros((0, 0)), ()).layout.xaxis.title.text == "position"


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"3 positions need 3×3 similarities, got shape \(2, 2\)"):
        similarity_heatmap(COSINES, ("a", "b", "c"))
