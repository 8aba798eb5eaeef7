import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.inputs.image_gallery import digit_examples, image_gallery

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
IDS = [40, 7, 1, 0, 9]
CAPTIONS = ["four", "seven", "one", "zero", "nine"]
DIGITS = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)


def gallery(selected=None, columns=3):
    return image_gallery(IMAGES, IDS, CAPTIONS, selected=selected, columns=columns)


def test_images_stand_in_rows_above_their_captions():
    pictures, texts, _, _ = drawn(gallery())
    assert [picture["x"] for picture in pictures] == [0, 61, 122, 0, 61]
    assert len({picture["y"] for picture in pictures}) == 2
    assert [text["text"] for text in texts] == CAPTIONS
    for picture, text in zip(pictures, texts, strict=True):
        assert picture["x"] < text["x"] < picture["x"] + picture["width"]
        assert text["y"] > picture["y"] + picture["height"]
    assert pictures[3]["y"] > texts[0]["y"]


def test_images_keep_whole_pixels_and_differ():
    pictures, _, _, _ = drawn(gallery())
    assert {(picture["width"], picture["height"]) for picture in pictures} == {(56, 56)}
    assert len({picture["url"] for picture in pictures}) == 5


def test_the_selected_image_is_framed():
    for selected, is_framed in ((0, [False, False, False, True, False]), (None, [False] * 5)):
        _, _, frames, _ = drawn(gallery(selected=selected))
        assert [frame["stroke"] == ACCENT for frame in frames] == is_framed


def test_image_and_caption_can_be_clicked():
    pictures, texts, _, cover = drawn(gallery())
    for picture, text, area in zip(pictures, texts, cover, strict=True):
        assert area["y"] == picture["y"]
        assert area["y2"] > text["y"]


def figure(queries=(0, 5, None), keys=(48, None, 7)):
    return digit_examples(
        DIGITS, queries, keys, [0.99, 0.5, 0.25], numbers=[7, 1, 40], patch_grid=(7, 7), columns=2
    )


def test_query_and_key_lie_on_their_patches():
    _, keys, pictures, queries, texts, _ = drawn(figure())
    side = pictures[0]["width"]
    assert len(pictures) == 3
    assert len(keys) == len(queries) == 2  # the class token has no place
    first, last = queries[0], keys[0]
    assert (first["x"], first["y"]) == pytest.approx((pictures[0]["x"], pictures[0]["y"]))
    assert (first["width"], first["height"]) == pytest.approx((side / 7, side / 7))
    assert last["x"] + last["width"] == pytest.approx(pictures[0]["x"] + side)
    assert last["y"] + last["height"] == pytest.approx(pictures[0]["y"] + side)
    second = queries[1]
    assert second["x"] == pytest.approx(pictures[1]["x"] + 5 * side / 7)
    third = keys[1]
    assert third["y"] == pytest.approx(pictures[2]["y"] + side / 7)
    assert texts[0]["text"] == "0.99, digit 7"


def test_everything_is_said_in_words():
    assert "digit 7: row 0, column 0 looks at row 6, column 6, weight 0.99" in figure().description
    assert "digit 40: the class token looks at row 1, column 0" in figure().description
