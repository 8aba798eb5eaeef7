import base64
import io

import numpy as np
from PIL import Image

from viz.builders.picture_marks import picture_ink


def decoded(uri):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("LA"))


def test_bright_pixels_become_ink_and_dark_ones_nothing():
    ink = picture_ink(np.array([[0, 255], [100, 0]], dtype=np.uint8), side=2)
    assert decoded(ink["on_light"])[..., 1].tolist() == [[0, 255], [100, 0]]
    assert decoded(ink["on_dark"])[..., 1].tolist() == [[0, 255], [100, 0]]


def test_ink_is_dark_on_a_light_page_and_light_on_a_dark_one():
    ink = picture_ink(np.full((2, 2), 255, dtype=np.uint8), side=2)
    assert decoded(ink["on_light"])[..., 0].max() < 50
    assert decoded(ink["on_dark"])[..., 0].min() > 200


def test_opacity_thins_the_ink():
    ink = picture_ink(np.array([[255, 0]], dtype=np.uint8), side=2, opacity=0.4)
    assert decoded(ink["on_light"])[..., 1].tolist() == [[102, 0]]


def test_pixels_are_enlarged_as_squares():
    ink = picture_ink(np.array([[255, 0], [0, 255]], dtype=np.uint8), side=6)
    assert np.array_equal(decoded(ink["on_light"])[..., 1], np.kron([[255, 0], [0, 255]], np.ones((3, 3))))


def test_colours_are_kept_on_either_theme():
    image = np.array([[[255, 0, 0], [0, 0, 0]]], np.uint8)
    ink = picture_ink(image, side=2, opacity=0.4)
    shown = np.asarray(Image.open(io.BytesIO(base64.b64decode(ink["on_light"].partition(",")[2]))))
    assert shown.tolist() == [[[255, 0, 0, 102], [0, 0, 0, 102]]]
    assert ink["on_dark"] == ink["on_light"]
