import numpy as np

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.compare.distance_heatmap import distance_heatmap

DISTANCES = np.array([[0.1, 0.4, 0.2], [0.3, 0.0, 0.5]])


def chart(**options):
    options = {"n_heads": (2, 3), "names": ("pre", "post"), "selected": 1} | options
    return distance_heatmap(DISTANCES, np.array([2, 1]), **options)


def test_heads_are_named_by_their_own_sides_layers():
    *_, cover = drawn(chart(n_heads=(1, 2)))
    said = [cell["description"] for cell in cover]
    assert said == [
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


def test_the_chosen_pair_is_framed():
    colours, _, cover = drawn(chart(selected=1))
    (frame,) = (cell for cell in cover if cell["stroke"] == ACCENT)
    assert (frame["x"], frame["y"]) == (colours[4]["x"], colours[4]["y"])


def test_no_heads_make_an_empty_chart():
    empty = distance_heatmap(
        np.zeros((0, 0)), np.zeros(0, int), n_heads=(1, 1), names=("a", "b"), selected=None
    )
    assert drawn(empty) == [[], [], []]
