import numpy as np

from viz.masks.pattern_change import pattern_change


def test_what_was_lost_is_negative_also_where_it_is_masked_now():
    before, after = np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([[1.0, 0.0], [0.2, 0.8]])
    figure = pattern_change(before, after, ("a", "b"), query=1)
    (trace,) = figure.data
    np.testing.assert_allclose(trace.z, [[0.5, -0.5], [0, 0]])
    (frame,) = figure.layout.shapes
    assert (frame.y0, frame.y1) == (0.5, 1.5)
