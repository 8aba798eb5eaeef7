import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.faithfulness.removal_curve import MAP, RANDOM, removal_curve
from viz.palette import EMPHASIS, NEUTRAL

CURVE = np.array([0.9, 0.4, 0.2])
ORDERS = np.array([[0.9, 0.8, 0.2], [0.9, 0.6, 0.2]])
SAID = {"what": "probability of positive", "units": "tokens", "reading": "area 0.47"}


def test_the_map_beside_the_mean_of_random_orders():
    figure = removal_curve("deletion", (0, 2, 4), CURVE, ORDERS, **SAID)
    frame = figure.frame
    np.testing.assert_allclose(frame["share"], [0, 0.5, 1])
    np.testing.assert_allclose(frame["map"], CURVE)
    np.testing.assert_allclose(frame["random"], [0.9, 0.7, 0.2])
    reach = 2 * np.std([0.8, 0.6], ddof=1)
    np.testing.assert_allclose(frame["low"], [0.9, 0.7 - reach, 0.2])
    np.testing.assert_allclose(frame["high"], [0.9, 0.7 + reach, 0.2])
    band, mean_points, own_points = drawn(figure, width=400)
    assert {point["fill"] for point in mean_points} == {NEUTRAL}
    assert {point["fill"] for point in own_points} == {EMPHASIS}
    assert [point["x"] for point in own_points] == pytest.approx(
        [0, own_points[-1]["x"] / 2, own_points[-1]["x"]]
    )
    assert own_points[1]["y"] > mean_points[1]["y"]
    assert len(band) == 3


def test_the_band_stays_between_nothing_and_everything():
    wild = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    frame = removal_curve("insertion", (0, 1, 2), CURVE, wild, **SAID).frame
    assert frame["low"].between(0, 1).all()
    assert frame["high"].between(0, 1).all()


def test_a_cosine_similarity_may_go_below_nothing():
    figure = removal_curve("deletion", (0, 1, 2), np.array([1.0, 0.2, -0.3]), ORDERS, **SAID)
    assert {"name": "lowest", "value": -0.3} in figure.specification["params"]


def test_the_axes_say_what_goes_and_what_is_left():
    figure = removal_curve("insertion", (0, 2, 4), CURVE, ORDERS, **SAID)
    said = str(figure.specification)
    assert "share of the tokens put back" in said
    assert "probability of positive" in said
    assert MAP in said
    assert RANDOM in said


@pytest.mark.parametrize(("kind", "error"), [("removal", KeyError), ("deletion", ValueError)])
def test_what_does_not_fit_is_refused(kind, error):
    with pytest.raises(error):
        removal_curve(kind, (0, 2, 4), CURVE if kind == "removal" else CURVE[:2], ORDERS, **SAID)
