import numpy as np

from tests.viz.picture import pixels
from tests.viz.scene import drawn
from viz.masks.blocked_patches import blocked_patches

IMAGE = np.zeros((8, 8), np.uint8)
ALLOWED = np.array([True, True, False, True])


def patches():
    return blocked_patches(IMAGE, np.full(4, 0.25), (2, 2), allowed=ALLOWED, query=None, scale="own")


def test_the_masked_patch_alone_is_hatched():
    (hatched,) = drawn(patches())[-2]
    ink = pixels(hatched["url"])[..., 3] > 0
    assert (hatched["width"], hatched["height"]) == (420, 420)
    quarters = ink.reshape(2, ink.shape[0] // 2, 2, -1).any(axis=(1, 3))
    assert quarters.ravel().tolist() == (~ALLOWED).tolist()


def test_a_click_names_the_patch_and_whether_it_is_blocked():
    cover = drawn(patches())[-1]
    assert {box["description"] for box in cover} == {"r0c0", "r0c1", "r1c0, masked", "r1c1"}
    (click,) = (param for param in patches().to_dict()["params"] if param["name"] == "key")
    assert click["select"]["fields"] == ["position", "blocked"]
