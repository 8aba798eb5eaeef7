import numpy as np
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.inputs.image_gallery import image_gallery

IMAGES = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
IDS = [40, 7, 1, 0, 9]
CAPTIONS = ["four", "seven", "one", "zero", "nine"]


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
    _, _, frames, _ = drawn(gallery(selected=0))
    assert [frame["stroke"] == ACCENT for frame in frames] == [False, False, False, True, False]


def test_nothing_is_framed_where_nothing_is_selected():
    _, _, frames, _ = drawn(gallery())
    assert ACCENT not in {frame["stroke"] for frame in frames}


def test_a_click_on_image_or_caption_names_the_id():
    spec = gallery().specification
    (click,) = spec["params"]
    assert (click["name"], click["select"]["fields"]) == ("image", ["id"])
    assert click["views"] == [spec["layer"][-1]["name"]]
    pictures, texts, _, cover = drawn(gallery())
    for picture, text, area in zip(pictures, texts, cover, strict=True):
        assert area["y"] == picture["y"]
        assert area["y2"] > text["y"]


def test_an_empty_gallery_is_empty():
    assert not any(drawn(image_gallery(np.zeros((0, 28, 28), np.uint8), [], [], selected=None, columns=4)))


def test_images_without_ids_are_refused():
    with pytest.raises(
        ValueError, match=r"expected shape \(4, \.\.\.\), got images of \(5, 28, 28\) and captions of \(5,\)"
    ):
        image_gallery(IMAGES, IDS[:4], CAPTIONS, selected=None, columns=3)
