import numpy as np
import pytest

from viz.positions.sum_of_maps import sum_of_maps

A, B = np.array([[1.0, -2.0]]), np.array([[0.5, 0.0]])


def test_all_maps_share_one_scale():
    figure = sum_of_maps({"A": A, "B": B, "sum": A + B}, ("a",)).specification
    assert [np.asarray(trace.z).tolist() for trace in figure.data] == [[[1, -2]], [[0.5, 0]], [[1.5, -2]]]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-2, 2)
    assert [title.text for title in figure.layout.annotations] == ["A", "B", "sum"]


def test_tokens_stand_from_the_top_and_their_markup_is_shown():
    figure = sum_of_maps({"A": A.repeat(2, axis=0)}, ("<b>", "film")).specification
    assert list(figure.data[0].y) == ["&lt;b&gt;", "film"]
    assert figure.layout.yaxis.autorange == "reversed"


def test_a_row_a_token():
    with pytest.raises(ValueError, match=r"expected shape \(2, \.\.\.\), got B of \(1, 2\)"):
        sum_of_maps({"A": A.repeat(2, axis=0), "B": B}, ("a", "b"))
