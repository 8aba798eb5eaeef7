import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.positions.error_curves import error_curves

ERRORS = {"with": np.zeros(3), "without": np.array([1.0, 0.5, 0.25])}


def test_a_line_a_map_in_the_order_given():
    figure = error_curves(ERRORS)
    assert figure.specification["encoding"]["color"]["scale"]["domain"] == ["with", "without"]
    assert figure.frame["error"].tolist() == [0, 0, 0, 1, 0.5, 0.25]
    assert figure.frame["t"].tolist() == [0, 1, 2] * 2


def test_no_maps_make_an_empty_chart():
    assert drawn(error_curves({}), width=400) in ([], [[]])


def test_a_fourth_map_is_refused():
    with pytest.raises(ValueError, match="at most 3 curves"):
        error_curves({name: np.zeros(2) for name in "abcd"})
