import numpy as np
import pytest

from model.record.from_arrays import from_arrays
from tests.viz.pixels import pixels
from tests.viz.scene import drawn
from tests.viz.vision import rgb
from viz.attention.picture_patches import knock_out_patches, picture_overlay, query_on_picture
from viz.builders.palette import TO_ONE, WEIGHTS, WeightScale

IMAGE = np.eye(28, dtype=np.uint8) * 255
GIVEN = np.array([0.0, 0.1, 0.2, 0.3, 0.2, 0.1])
GIVEN_OTHERS = np.array([0.3, 0.6, 0.1, 0.0, 0.0, 0.0])
OWN = WeightScale(0.3, "0 to its own maximum")


def overlay(image=IMAGE, weights=GIVEN, patch_grid=(2, 3), query=None, scale=OWN):
    return picture_overlay(image, weights, patch_grid, query=query, n_keys=7, scale=scale)


def knocked_out(falls=(0.1, -0.2, 0.0, 0.05), patch_grid=(2, 2), query=2):
    return knock_out_patches(IMAGE, np.array(falls), patch_grid, query=query, limit=0.2, what="fall of P(7)")


def test_each_weight_lies_on_its_patch():
    colours, _, cover = drawn(overlay(np.eye(28, 42, dtype=np.uint8) * 255))
    assert [(patch["x"], patch["y"]) for patch in colours] == [
        (0, 0), (140, 0), (280, 0), (0, 140), (140, 140), (280, 140)
    ]  # fmt: skip
    drawn_at = rgb(*(patch["fill"] for patch in colours)).tolist()
    assert drawn_at[0] == rgb(WEIGHTS[0])[0].tolist()  # the page
    assert [index for index, item in enumerate(drawn_at) if item == rgb(WEIGHTS[-1])[0].tolist()] == [3]
    assert [patch["description"] for patch in cover] == ["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]


def test_a_weight_has_one_colour_on_one_scale_whatever_else_is_there():
    colours, _, _ = drawn(overlay(scale=TO_ONE))
    of_others, _, _ = drawn(overlay(weights=GIVEN_OTHERS, scale=TO_ONE))
    assert colours[3]["fill"] == of_others[0]["fill"]


@pytest.mark.parametrize(
    ("side", "figure"),
    [(420, overlay(weights=np.full(49, 0.1), patch_grid=(7, 7))), (364, knocked_out([0.1] * 49, (7, 7)))],
)
def test_the_picture_covers_all_patches_and_lies_above_their_colours(side, figure):
    colours, (picture,), _ = drawn(figure)
    assert (picture["x"], picture["y"], picture["width"], picture["height"]) == (0, 0, side, side)
    assert max(patch["x"] + patch["width"] for patch in colours) == side
    assert max(patch["y"] + patch["height"] for patch in colours) == side


def test_a_picture_that_is_no_square_keeps_its_proportions():
    image = np.zeros((32, 64), np.uint8)  # 4 × 16 patches, each twice as high as wide
    figure = picture_overlay(image, np.full(64, 0.01), (4, 16), query=None, n_keys=65)
    colours, (picture,), _ = drawn(figure)
    assert (picture["width"], picture["height"]) == (420, 210)
    assert colours[0]["height"] == pytest.approx(2 * colours[0]["width"])


def test_a_picture_in_colours_shows_them_on_any_page():
    image = np.zeros((28, 28, 3), np.uint8)
    image[..., 0] = 200
    for dark in (False, True):
        _, (picture,), _ = drawn(overlay(image), dark=dark)
        assert pixels(picture["url"])[5, 5].tolist() == [200, 0, 0, 140]  # 0.55 of the way to opaque


@pytest.mark.parametrize(("query", "where"), [(None, "the class token"), (4, "row 1, column 1")])
def test_the_description_says_where_the_query_is(query, where):
    assert overlay(query=query).description == f"The picture over the attention of {where} to its 6 patches"


def blocked():
    allowed = np.array([True, True, False, True])
    return picture_overlay(IMAGE, np.full(4, 0.25), (2, 2), n_keys=3, allowed=allowed, query=3)


def test_the_masked_patch_alone_is_hatched():
    _, _, (hatched,), _ = drawn(blocked())
    ink = pixels(hatched["url"])[..., 3] > 0
    assert (hatched["width"], hatched["height"]) == (420, 420)
    quarters = ink.reshape(2, ink.shape[0] // 2, 2, -1).any(axis=(1, 3))
    assert quarters.ravel().tolist() == [False, False, True, False]


def test_a_click_on_what_can_be_blocked_names_the_patch_and_whether_it_is():
    *_, cover = drawn(blocked())
    assert {box["description"] for box in cover} == {"r0c0", "r0c1", "r1c0, masked", "r1c1"}
    (click,) = (parameter for parameter in blocked().specification["params"] if "select" in parameter)
    assert (click["name"], click["select"]["fields"]) == ("key", ["position", "blocked"])


def test_the_row_of_a_query_lies_on_the_picture_without_the_keys_before_the_first_patch():
    record = from_arrays(np.full((1, 1, 7, 7), 1 / 7), patch_grid=(2, 3))
    row = np.array([0.1, *GIVEN])
    figure = query_on_picture(record, IMAGE, row, query=0, scale=OWN, notes=["L0 H0"])
    of_class_token = overlay()
    assert figure.frame.equals(of_class_token.frame)
    assert figure.specification["title"]["text"] == ["L0 H0"]
    assert {"name": "legend_ticks", "value": [0, 1 / 7, 0.3]} in figure.specification["params"]
    last = query_on_picture(record, IMAGE, row, query=6).frame
    assert last.loc[last["selected"], "patch"].tolist() == ["r1c2"]
