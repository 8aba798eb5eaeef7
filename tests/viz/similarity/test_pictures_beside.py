import numpy as np
import pytest

from tests.viz.pixels import pixels
from tests.viz.scene import drawn
from viz.builders.chart import Rows, chart
from viz.builders.figure import VegaFigure
from viz.similarity.pictures_beside import Grids, patch_names, place_pictures

GREY = np.full((20, 30), 200, np.uint8)
PHOTO = np.zeros((40, 40, 3), np.uint8) + np.array([200, 100, 0], np.uint8)


def figure(pictures: list[np.ndarray], grids: Grids) -> VegaFigure:
    layout = place_pictures(pictures, grids, lines=1)
    return chart(
        [],
        layout.boxes(Rows()),
        layout.images(),
        drawing=layout.patches,
        frames={"pictures": layout.pictures},
        params=layout.params,
        height=layout.height,
    )


def corners(result: VegaFigure, width: int) -> np.ndarray:
    """[patch, left · top · right · bottom], in pixels."""
    boxes = drawn(result, width=width)[0]
    return np.array(
        [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in boxes]
    )


def test_two_pictures_of_other_sizes_lie_beside_each_other():
    boxes = corners(figure([GREY, PHOTO], [(2, 3), (2, 2)]), 1000)
    np.testing.assert_array_equal(boxes[0], (0, 22, 140, 162))
    np.testing.assert_array_equal(boxes[5], (280, 162, 420, 302))
    np.testing.assert_array_equal(boxes[6], (436, 22, 646, 232))
    np.testing.assert_array_equal(boxes[9], (646, 232, 856, 442))


def test_pictures_share_a_narrow_page():
    boxes = corners(figure([GREY, PHOTO], [(2, 3), (2, 2)]), 326)  # of which 10 are around it
    assert boxes[5, 2] == 150
    assert (boxes[6, 0], boxes[9, 2]) == (166, 316)
    assert corners(figure([PHOTO], [(1, 1)]), 326)[0].tolist() == [0, 22, 316, 338]


def test_no_gap_is_between_patches_whose_sides_are_no_whole_pixels():
    boxes = corners(figure([PHOTO], [(37, 37)]), 900)
    assert (boxes == boxes.round()).all()
    np.testing.assert_array_equal(boxes[:36, 2], boxes[1:37, 0])


def test_a_photo_is_grey_over_the_colours():
    layout = place_pictures([PHOTO], [(2, 2)], lines=0)
    (red, green, blue, opacity) = pixels(layout.pictures["on_light"][0])[0, 0]
    assert red == green == blue == round(0.299 * 200 + 0.587 * 100)
    assert opacity == 102


def test_patches_are_named_by_row_and_column():
    assert patch_names([(1, 2), (2, 1)]) == ["r0c0", "r0c1", "r0c0", "r1c0"]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_one_or_two_pictures_have_a_grid_each(n):
    with pytest.raises(ValueError, match="one picture or two are drawn, each with a grid"):
        place_pictures([PHOTO] * n, [(2, 2)] * (3 if n == 3 else 2), lines=0)
