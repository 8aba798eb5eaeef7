import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.attention.digit_overlay import digit_overlay
from viz.palette import ACCENT

IMAGE = np.eye(28, dtype=np.uint8) * 255
WEIGHTS = np.array([0.0, 0.1, 0.2, 0.3, 0.2, 0.1])
STRONGEST = "rgb(216, 42, 83)"


def test_each_weight_lies_on_its_patch():
    colours, _, cover = drawn(digit_overlay(IMAGE, WEIGHTS, (2, 3), query=None, scale="own"))
    assert [(patch["x"], patch["y"]) for patch in colours] == [
        (0, 0), (140, 0), (280, 0), (0, 140), (140, 140), (280, 140)
    ]  # fmt: skip
    assert [place for place, patch in enumerate(colours) if patch["fill"] == STRONGEST] == [3]
    assert colours[0]["fill"].endswith(", 0)")  # nothing to see
    assert [patch["description"] for patch in cover] == ["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]


def test_a_fixed_scale_reaches_to_one():
    colours, _, _ = drawn(digit_overlay(IMAGE, WEIGHTS, (2, 3), query=None, scale="fixed"))
    assert all(patch["fill"] != STRONGEST for patch in colours)


def test_the_digit_covers_all_patches_and_lies_above_their_colours():
    colours, (digit,), _ = drawn(digit_overlay(IMAGE, np.full(49, 1 / 49), (7, 7), query=None, scale="own"))
    assert (digit["x"], digit["y"], digit["width"], digit["height"]) == (0, 0, 420, 420)
    assert max(patch["x"] + patch["width"] for patch in colours) == 420
    assert max(patch["y"] + patch["height"] for patch in colours) == 420


def test_the_digit_is_drawn_for_the_theme_of_the_page():
    chart = digit_overlay(IMAGE, WEIGHTS, (2, 3), query=None, scale="own")
    _, (on_light,), _ = drawn(chart)
    _, (on_dark,), _ = drawn(chart, dark=True)
    assert on_light["url"] != on_dark["url"]


def test_the_chosen_patch_is_outlined_above_its_neighbours():
    _, _, cover = drawn(digit_overlay(IMAGE, WEIGHTS, (2, 3), query=1, scale="own"))
    assert [patch["stroke"] == ACCENT for patch in cover] == [False] * 5 + [True]
    assert cover[-1]["description"] == "r0c1"


def test_the_class_token_outlines_nothing():
    _, _, cover = drawn(digit_overlay(IMAGE, WEIGHTS, (2, 3), query=None, scale="own"))
    assert ACCENT not in {patch["stroke"] for patch in cover}


def test_a_click_on_the_topmost_layer_names_the_patch():
    spec = digit_overlay(IMAGE, WEIGHTS, (2, 3), query=None, scale="own").to_dict()
    (click,) = spec["params"]
    assert (click["name"], click["select"]["fields"]) == ("patch", ["position"])
    assert click["views"] == [spec["layer"][-1]["name"]]


def test_weights_beside_the_grid_are_refused():
    with pytest.raises(ValueError, match=r"7 × 7 patches need as many weights, got shape \(50,\)"):
        digit_overlay(IMAGE, np.zeros(50), (7, 7), query=None, scale="own")
