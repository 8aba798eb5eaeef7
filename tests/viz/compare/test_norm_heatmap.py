from functools import partial

import numpy as np
import pytest

from viz.compare import norm_heatmap as module

norm_heatmap = partial(module.norm_heatmap, limit=8)
NORMS = np.array([[1.0, 2.0, 3.0], [4.0, 8.0, 6.0]])


def test_stages_are_rows_and_tokens_are_columns():
    (trace,) = norm_heatmap(NORMS, ("embed", "L0 mid"), ("the", "<b>", "the")).specification.data
    assert np.asarray(trace.z).tolist() == NORMS.tolist()
    assert list(trace.y) == ["embed", "L0 mid"]
    assert list(trace.x) == ["0 the", "&lt;b&gt;", "2 the"]
    assert (trace.zmin, trace.zmax) == (0, 8)


def test_both_sides_reach_to_the_same_length():
    (trace,) = module.norm_heatmap(NORMS / 4, ("embed", "L0 mid"), "abc", limit=8).specification.data
    assert (trace.zmin, trace.zmax) == (0, 8)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \(2, 2\), got norms of \(2, 3\)"):
        norm_heatmap(NORMS, ("embed", "L0 mid"), "ab")


def test_no_tokens_make_an_empty_figure_with_its_axes():
    assert norm_heatmap(np.zeros((0, 0)), (), ()).specification.layout.xaxis.title.text == "token"
