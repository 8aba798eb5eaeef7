import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import EMPHASIS, NEUTRAL
from viz.faithfulness.removal_curve import removal_curve

CURVE = np.array([0.9, 0.4, 0.2])
ORDERS = np.array([[0.9, 0.8, 0.2], [0.9, 0.6, 0.2]])
SAID = {"what": "fall of the log-odds of positive, nats", "units": "tokens", "reading": "area 0.47"}


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


def test_the_axis_holds_the_map_and_the_whole_band():
    wild = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    figure = removal_curve("insertion", (0, 1, 2), CURVE, wild, **SAID)
    values = {each["name"]: each["value"] for each in figure.specification["params"]}
    assert values["lowest"] == figure.frame["low"].min() < 0
    assert values["highest"] == figure.frame["high"].max() > 1
    nothing = removal_curve("deletion", (0, 1, 2), np.zeros(3), np.zeros((2, 3)), **SAID)
    values = {each["name"]: each["value"] for each in nothing.specification["params"]}
    assert (values["lowest"], values["highest"]) == (0, 1)


@pytest.mark.parametrize(("kind", "error"), [("removal", KeyError), ("deletion", ValueError)])
def test_what_does_not_fit_is_refused(kind, error):
    with pytest.raises(error):
        removal_curve(kind, (0, 2, 4), CURVE if kind == "removal" else CURVE[:2], ORDERS, **SAID)
