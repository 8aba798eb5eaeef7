import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.compare.knock_out_patches import knock_out_patches
from viz.palette import ACCENT

IMAGE = np.zeros((28, 28), np.uint8)


def patches(change=(0.1, -0.2, 0.0, 0.05), query=2, **options):
    options = {"limit": 0.2, "what": "P(7)"} | options
    return knock_out_patches(IMAGE, np.array(change), (2, 2), query=query, **options)


def test_patches_lie_row_by_row():
    *_, cover = drawn(patches(query=None))
    places = {cell["description"]: (cell["x"], cell["y"]) for cell in cover}
    assert places["r0c0"][1] == places["r0c1"][1] < places["r1c0"][1]
    assert places["r0c0"][0] == places["r1c0"][0] < places["r0c1"][0]


def test_the_chosen_patch_is_outlined_and_the_class_token_has_no_place():
    *_, cover = drawn(patches())
    assert [cell["description"] for cell in cover if cell["stroke"] == ACCENT] == ["r1c0"]
    *_, cover = drawn(patches(query=None))
    assert not [cell for cell in cover if cell["stroke"] == ACCENT]


def test_the_scale_is_symmetric_about_zero():
    spec = patches().specification
    ends = [{"expr": "-largest"}, {"expr": "largest"}]
    assert spec["layer"][0]["encoding"]["color"]["scale"]["domain"] == ends
    assert {"name": "largest", "value": 0.2} in spec["params"]


def test_changes_that_do_not_fill_the_grid_are_refused():
    with pytest.raises(ValueError, match=r"2 × 2 patches need as many changes, got shape \(3,\)"):
        patches(change=(0.1, 0.2, 0.3))
