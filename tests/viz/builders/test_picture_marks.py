import numpy as np

from tests.viz.pixels import pixels
from viz.builders.picture_marks import picture_ink, weight_table

WEIGHTS = np.arange(12.0).reshape(2, 3, 2)


def test_bright_pixels_become_ink_and_dark_ones_nothing():
    ink = picture_ink(np.array([[0, 255], [100, 0]], dtype=np.uint8), side=2)
    assert pixels(ink["on_light"])[..., 3].tolist() == [[0, 255], [100, 0]]
    assert pixels(ink["on_dark"])[..., 3].tolist() == [[0, 255], [100, 0]]


def test_ink_is_dark_on_a_light_page_and_light_on_a_dark_one():
    ink = picture_ink(np.full((2, 2), 255, dtype=np.uint8), side=2)
    assert pixels(ink["on_light"])[..., 0].max() < 50
    assert pixels(ink["on_dark"])[..., 0].min() > 200


def test_opacity_thins_the_ink():
    ink = picture_ink(np.array([[255, 0]], dtype=np.uint8), side=2, opacity=0.4)
    assert pixels(ink["on_light"])[..., 3].tolist() == [[102, 0]]


def test_pixels_are_enlarged_as_squares():
    ink = picture_ink(np.array([[255, 0], [0, 255]], dtype=np.uint8), side=6)
    assert np.array_equal(pixels(ink["on_light"])[..., 3], np.kron([[255, 0], [0, 255]], np.ones((3, 3))))


def test_colours_are_kept_on_either_theme():
    image = np.array([[[255, 0, 0], [0, 0, 0]]], np.uint8)
    ink = picture_ink(image, side=2, opacity=0.4)
    assert pixels(ink["on_light"]).tolist() == [[[255, 0, 0, 102], [0, 0, 0, 102]]]
    assert ink["on_dark"] == ink["on_light"]


def test_each_index_of_the_leading_axes_is_a_row():
    table = weight_table(WEIGHTS, {"layer": None, "query": ["a", "b", "c"]}, ["x", "y"])
    assert list(table.columns) == ["layer", "query", "x", "y"]
    assert table["layer"].tolist() == [0, 0, 0, 1, 1, 1]
    assert table["query"].tolist() == ["a", "b", "c"] * 2
    assert table["x"].tolist() == [0, 2, 4, 6, 8, 10]
    assert table["y"].tolist() == [1, 3, 5, 7, 9, 11]


def test_a_key_may_be_called_like_a_kind_of_row():
    table = weight_table(WEIGHTS, {"layer": None, "query": None}, ["query", "layer"])
    assert list(table.columns) == ["layer", "query", "query", "layer"]
