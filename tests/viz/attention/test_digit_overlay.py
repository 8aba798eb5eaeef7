import numpy as np
import pytest

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
    spec = digit_overlay(IMAGE, WEIGHTS, (2, 3), query=query, scale="own").to_dict()
    assert spec["description"] == f"The digit over the attention of {where} to its 6 patches"


def test_weights_beside_the_grid_are_refused():
    with pytest.raises(ValueError, match=r"7 × 7 patches need as many weights, got shape \(50,\)"):
        digit_overlay(IMAGE, np.zeros(50), (7, 7), query=None, scale="own")
