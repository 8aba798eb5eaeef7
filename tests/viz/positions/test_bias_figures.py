import numpy as np
import pytest

from viz.positions.bias_figures import bias_curves, bias_maps, offset_map

OFFSETS = np.array([-1, 0, 1])


def test_a_curve_for_each_head_with_its_name_at_the_end() -> None:
    figure = bias_curves(OFFSETS, np.array([[1.0, 2, 3], [0, 0, 3]]), head=0)
    rows = figure.frame.set_index(["head", "offset"])
    assert rows.loc[(1, 1), "bias"] == 3
    assert rows.loc[0, "chosen"].all()
    ends = figure.frames["ends"]
    assert ends["head"].tolist() == [1, 0]  # the chosen one lies on top
    assert abs(np.diff(ends["bias"])[0]) > 0.1  # names of curves that end together lie apart
    assert ends["bias"].mean() == pytest.approx(3)


def test_a_map_for_each_head_about_the_own_patch() -> None:
    by_head = np.arange(18.0).reshape(2, 3, 3)
    rows = bias_maps(by_head, head=1).frame.set_index(["head", "row", "column"])["bias"]
    assert (rows[0, 0, 0], rows[1, -1, 1], rows[1, 1, -1]) == (4, 11, 15)


def test_the_offset_of_a_pair_is_framed() -> None:
    figure = offset_map(np.arange(15.0).reshape(3, 5), what="score", offset=(1, -2))
    (shape,) = figure.specification.layout.shapes
    assert (shape.x0, shape.y0) == (-0.5, 1.5)
    assert figure.frame.loc["1", "−2"] == 10


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="by_head"):
        bias_curves(OFFSETS, np.zeros((2, 4)), head=0)
