import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, EMPHASIS
from viz.compare.pair_spread import pair_spread

NAMES = ("L0 H0 ↔ L0 H1", "L0 H1 ↔ L1 H0", "L1 H0 ↔ L0 H0")
HERE, MEAN, SD = np.array([0.1, 0.5, 0.2]), np.array([0.2, 0.4, 0.3]), np.array([0.3, 0.1, 0.05])


def made(**changes):
    given = {"here": HERE, "mean": MEAN, "sd": SD, "ones": (0, 1, 2), "others": (1, 2, 0), "selected": 2}
    return pair_spread(NAMES, **given | changes)


def test_the_furthest_pair_stands_first_and_the_chosen_one_is_marked():
    frame = made().frame
    assert frame["name"].tolist() == [NAMES[1], NAMES[2], NAMES[0]]
    assert frame["low"].tolist() == pytest.approx([0.3, 0.25, 0.0])  # no distance is below 0
    bars, means, dots = drawn(made())
    assert [dot["fill"] for dot in dots] == [EMPHASIS, ACCENT, EMPHASIS]
    assert [dot["y"] for dot in dots] == sorted(dot["y"] for dot in dots)
    assert bars[0]["x"] < means[0]["x"] < dots[0]["x"] <= bars[0]["x"] + bars[0]["width"]


def test_without_pairs_there_are_the_axes():
    empty = pair_spread((), np.zeros(0), np.zeros(0), np.zeros(0), ones=(), others=(), selected=None)
    assert drawn(empty) == [[], [], []]


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="expected shape"):
        made(here=np.zeros(2))
