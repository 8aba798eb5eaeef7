import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.compare.stage_curves import stage_curves
from viz.palette import FIRST, SECOND

STAGES = ("embed", "L0 mid", "L0 post")
CURVES = {"z": np.array([1.0, 2.0, 4.0]), "a": np.array([0.5, 0.0])}


def test_a_curve_for_each_side_in_its_colour():
    points = drawn(stage_curves(CURVES, STAGES, y_title="norm"), width=600)[-1]
    colours = [point["fill"] for point in points]
    assert colours == [FIRST] * 3 + [SECOND] * 2


def test_stages_stand_in_their_own_order_and_the_shallower_side_ends_earlier():
    points = drawn(stage_curves(CURVES, STAGES, y_title="norm"), width=600)[-1]
    across = [point["x"] for point in points]
    assert across[0] < across[1] < across[2]
    assert across[3:] == across[:2]


@pytest.mark.parametrize(("given", "top"), [(None, 4), (8, 8)])
def test_the_axis_starts_at_zero(given, top):
    *_, points = drawn(stage_curves(CURVES, STAGES, y_title="norm", from_zero_to=given), width=600)
    assert [point["y"] for point in points] == [240 * (1 - value / top) for value in (1, 2, 4, 0.5, 0)]


def test_one_legend_has_the_colours_and_the_shapes():
    _, points = stage_curves(CURVES, STAGES, y_title="norm").specification["layer"]
    assert points["encoding"]["color"]["legend"] == points["encoding"]["shape"]["legend"]


def test_more_values_than_stages_are_refused():
    with pytest.raises(ValueError, match="3 values need as many stages, got 2"):
        stage_curves(CURVES, STAGES[:2], y_title="norm")


def test_no_curves_make_an_empty_chart():
    assert drawn(stage_curves({}, (), y_title="norm"), width=600) == [[]]
