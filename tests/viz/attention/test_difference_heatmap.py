import numpy as np
import pytest

from viz.attention.difference_heatmap import difference_heatmap

PRE = np.array([[0.75, 0.25], [0.5, 0.5]], dtype=np.float32)
POST = np.array([[0.25, 0.75], [0.375, 0.625]], dtype=np.float32)


def test_the_difference_is_second_minus_first():
    (trace,) = difference_heatmap(PRE, POST, ("a", "b")).specification.data
    assert np.asarray(trace.z).tolist() == [[-0.5, 0.5], [-0.125, 0.125]]
    assert trace.colorbar.title.text == "post-LN minus pre-LN,<br>symmetric about 0"


def test_the_scale_is_symmetric_and_reaches_the_largest_difference():
    (trace,) = difference_heatmap(PRE, PRE * 0.5, ("a", "b")).specification.data
    assert (trace.zmin, trace.zmax) == (-0.375, 0.375)


def test_equal_patterns_are_all_zero_on_a_scale_that_exists():
    (trace,) = difference_heatmap(PRE, PRE, ("a", "b")).specification.data
    assert not np.any(trace.z)
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_rounding_is_not_drawn_as_a_difference():
    (trace,) = difference_heatmap(PRE, PRE + np.float32(2.4e-7), ("a", "b")).specification.data
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_hover_gives_both_values_and_the_difference():
    (trace,) = difference_heatmap(PRE, POST, ("a", "b"), names=("first", "<b>")).specification.data
    assert np.asarray(trace.customdata)[0, 1].tolist() == [0.25, 0.75]
    assert "first: %{customdata[0]:.4f}" in trace.hovertemplate
    assert "&lt;b&gt;: %{customdata[1]:.4f}" in trace.hovertemplate
    assert "difference: %{z:+.4f}" in trace.hovertemplate


def test_the_row_of_the_query_is_framed():
    (frame,) = difference_heatmap(PRE, POST, ("a", "b"), query=1).specification.layout.shapes
    assert (frame.y0, frame.y1) == (0.5, 1.5)


def test_no_tokens_make_an_empty_figure_with_its_axes():
    figure = difference_heatmap(np.zeros((0, 0)), np.zeros((0, 0)), ()).specification
    assert figure.layout.yaxis.title.text == "query"


def test_patterns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"2 tokens need 2×2 .*\(3, 3\)"):
        difference_heatmap(PRE, np.eye(3), ("a", "b"))
