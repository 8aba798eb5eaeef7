import altair as alt
import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.digit_patches import digit_patches, patch_layers
from viz.figure import VegaFigure, form, value
from viz.palette import ACCENT

IMAGE = np.eye(28, dtype=np.uint8) * 255
VALUES = np.array([0.0, 0.1, 0.2, 0.3, 0.2, 0.1])


@form
def shares() -> alt.LayerChart:
    scale = alt.Scale(domain=[0, value("largest")], range=["#000000", "#ff0000"])
    return patch_layers(alt.Color("share:Q", scale=scale), alt.Tooltip("share:Q", format=".1f"))


def patches(values=VALUES, patch_grid=(2, 3), query=None, side=420) -> VegaFigure:
    return digit_patches(
        shares(),
        IMAGE,
        values,
        patch_grid,
        query=query,
        name="share",
        largest=0.3,
        side=side,
        description="Shares of patches",
    )


def test_each_value_colours_its_patch():
    colours, _, cover = drawn(patches())
    assert [(patch["x"], patch["y"]) for patch in colours] == [
        (0, 0), (140, 0), (280, 0), (0, 140), (140, 140), (280, 140)
    ]  # fmt: skip
    assert [place for place, patch in enumerate(colours) if patch["fill"] == "rgb(255, 0, 0)"] == [3]
    assert [patch["description"] for patch in cover] == ["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]


@pytest.mark.parametrize("side", [364, 420])
def test_the_digit_covers_all_patches_and_lies_above_their_colours(side):
    colours, (digit,), _ = drawn(patches(np.full(49, 0.1), (7, 7), side=side))
    assert (digit["x"], digit["y"], digit["width"], digit["height"]) == (0, 0, side, side)
    assert max(patch["x"] + patch["width"] for patch in colours) == side
    assert max(patch["y"] + patch["height"] for patch in colours) == side


def test_the_digit_is_drawn_for_the_theme_of_the_page():
    chart = patches()
    _, (on_light,), _ = drawn(chart)
    _, (on_dark,), _ = drawn(chart, dark=True)
    assert on_light["url"] != on_dark["url"]


def test_the_chosen_patch_is_outlined_above_its_neighbours():
    _, _, cover = drawn(patches(query=1))
    assert [patch["stroke"] == ACCENT for patch in cover] == [False] * 5 + [True]
    assert cover[-1]["description"] == "r0c1"
    _, _, cover = drawn(patches(query=None))
    assert ACCENT not in {patch["stroke"] for patch in cover}


def test_a_click_on_the_topmost_layer_names_the_patch():
    spec = patches().specification
    (click,) = (each for each in spec["params"] if "select" in each)
    assert (click["name"], click["select"]["fields"]) == ("patch", ["position"])
    assert click["views"] == [spec["layer"][-1]["name"]]


def test_the_tooltip_names_the_patch_and_its_value():
    tooltip = patches().specification["layer"][-1]["encoding"]["tooltip"]
    assert [part["field"] for part in tooltip] == ["patch", "share"]


def test_values_beside_the_grid_are_refused_by_their_name():
    with pytest.raises(ValueError, match=r"7 × 7 patches need as many shares, got shape \(50,\)"):
        patches(np.zeros(50), (7, 7))
