import numpy as np
import pytest

from tests.viz.picture import pixels
from tests.viz.scene import drawn
from viz.attention.digit_overlay import digit_overlay

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


@pytest.mark.parametrize(("query", "where"), [(None, "the class token"), (4, "row 1, column 1")])
def test_the_description_says_where_the_query_is(query, where):
    overlay = digit_overlay(IMAGE, WEIGHTS, (2, 3), query=query, scale="own")
    assert overlay.description == f"The digit over the attention of {where} to its 6 patches"


def blocked():
    allowed = np.array([True, True, False, True])
    return digit_overlay(IMAGE, np.full(4, 0.25), (2, 2), allowed=allowed, query=3, scale="own")


def test_the_masked_patch_alone_is_hatched():
    _, _, (hatched,), _ = drawn(blocked())
    ink = pixels(hatched["url"])[..., 3] > 0
    assert (hatched["width"], hatched["height"]) == (420, 420)
    quarters = ink.reshape(2, ink.shape[0] // 2, 2, -1).any(axis=(1, 3))
    assert quarters.ravel().tolist() == [False, False, True, False]


def test_a_click_on_what_can_be_blocked_names_the_patch_and_whether_it_is():
    *_, cover = drawn(blocked())
    assert {box["description"] for box in cover} == {"r0c0", "r0c1", "r1c0, masked", "r1c1"}
    (click,) = (each for each in blocked().specification["params"] if "select" in each)
    assert (click["name"], click["select"]["fields"]) == ("key", ["position", "blocked"])


def test_weights_beside_the_grid_are_refused():
    with pytest.raises(ValueError, match=r"7 × 7 patches need as many weights, got shape \(50,\)"):
        digit_overlay(IMAGE, np.zeros(50), (7, 7), query=None, scale="own")
