import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, EMPHASIS
from viz.compare.head_distances import distance_heatmap, pair_spread

DISTANCES = np.array([[0.1, 0.4, 0.2], [0.3, 0.0, 0.5]])


def chart(**options):
    options = {"n_heads": (2, 3), "names": ("pre", "post"), "selected": 1} | options
    return distance_heatmap(DISTANCES, np.array([2, 1]), **options)


def test_heads_are_named_by_their_own_sides_layers():
    *_, cover = drawn(chart(n_heads=(1, 2)))
    descriptions = [cell["description"] for cell in cover]
    assert descriptions == [
        f"{one} and {other}" for one in ("L0 H0", "L1 H0") for other in ("L0 H0", "L0 H1", "L1 H0")
    ]


def test_the_pairs_are_ringed():
    colours, rings, _ = drawn(chart())
    centres = [(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2) for cell in colours]
    assert [(ring["x"], ring["y"]) for ring in rings] == [centres[2], centres[4]]


def test_a_head_without_a_partner_has_no_ring():
    _, rings, cover = drawn(
        distance_heatmap(DISTANCES, np.array([-1, 1]), n_heads=(2, 3), names=("a", "b"), selected=0)
    )
    assert len(rings) == 1
    assert not [cell for cell in cover if cell["stroke"] == ACCENT]


NAMES = ("L0 H0 ↔ L0 H1", "L0 H1 ↔ L1 H0", "L1 H0 ↔ L0 H0")
HERE, MEAN, SD = np.array([0.1, 0.5, 0.2]), np.array([0.2, 0.4, 0.3]), np.array([0.3, 0.1, 0.05])


def made(**changes):
    arguments = {
        "this_input": HERE,
        "mean": MEAN,
        "sd": SD,
        "first_heads": (0, 1, 2),
        "second_heads": (1, 2, 0),
        "selected": 2,
    }
    return pair_spread(NAMES, **arguments | changes)


def test_the_furthest_pair_stands_first_and_the_chosen_one_is_marked():
    frame = made().frame
    assert frame["name"].tolist() == [NAMES[1], NAMES[2], NAMES[0]]
    assert frame["low"].tolist() == pytest.approx([0.3, 0.25, 0.0])  # no distance is below 0
    bars, means, dots = drawn(made())
    assert [dot["fill"] for dot in dots] == [EMPHASIS, ACCENT, EMPHASIS]
    assert [dot["y"] for dot in dots] == sorted(dot["y"] for dot in dots)
    assert bars[0]["x"] < means[0]["x"] < dots[0]["x"] <= bars[0]["x"] + bars[0]["width"]
