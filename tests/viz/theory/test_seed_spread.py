import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.theory.seed_spread import seed_spread, spread

VALUES = {
    "pre-LN": np.array([[1.0, 2.0, 4.0], [3.0, 4.0, 8.0]]),
    "post-LN": np.array([[5.0, 5.0, 5.0], [5.0, 5.0, 5.0]]),
}
TITLES = {"x": "layers", "y": "norm", "description": "Norms over layers."}


def test_the_line_is_the_mean_and_the_band_reaches_from_least_to_largest():
    rows = spread(VALUES, (2, 3, 5))
    pre = rows[rows["variant"] == "pre-LN"]
    assert pre["position"].tolist() == [2, 3, 5]
    assert pre["mean"].tolist() == [2, 3, 6]
    assert pre["least"].tolist() == [1, 2, 4]
    assert pre["largest"].tolist() == [3, 4, 8]
    assert rows["seeds"].tolist() == [2] * 6


def test_every_mean_is_a_point_that_says_its_numbers():
    *_, points = drawn(seed_spread(VALUES, (2, 3, 5), **TITLES), width=500)
    assert len(points) == 6
    tooltip = seed_spread(VALUES, (2, 3, 5), **TITLES).to_dict()["layer"][-1]["encoding"]["tooltip"]
    assert [field["field"] for field in tooltip] == [
        "variant",
        "position",
        "mean",
        "least",
        "largest",
        "seeds",
    ]


def test_placements_differ_in_shape_as_well_as_in_colour():
    four = dict.fromkeys(("pre-LN", "post-LN", "DeepNorm", "B2T"), np.array([[1.0]]))
    *_, points = drawn(seed_spread(four, (1,), **TITLES), width=500)
    assert len({point["shape"] for point in points}) == 4
    assert len({point["fill"] for point in points}) == 4


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_places_follow_the_scale(scale):
    doubling = {"pre-LN": np.array([[1.0, 2.0, 4.0]])}
    *_, points = drawn(seed_spread(doubling, (1, 2, 4), x_scale=scale, y_scale=scale, **TITLES), width=500)
    for axis in "xy":
        places = [point[axis] for point in points]
        first, second = abs(places[1] - places[0]), abs(places[2] - places[1])
        assert second == pytest.approx(first if scale == "log" else 2 * first, rel=1e-6)


def test_a_zero_has_no_place_on_a_log_axis():
    *_, points = drawn(seed_spread({"B2T": np.array([[0.0, 1.0]])}, (0, 1), y_scale="log", **TITLES))
    assert len(points) == 1


def test_no_variants_make_an_empty_chart():
    assert not any(drawn(seed_spread({}, (), **TITLES)))


def test_positions_must_fit_the_values():
    with pytest.raises(ValueError, match=r"2 positions need values \[seed, 2\], got \(2, 3\)"):
        seed_spread(VALUES, (1, 2), **TITLES)
