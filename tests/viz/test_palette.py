import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageColor

from tests.viz.picture import pixels
from viz.palette import (
    ACCENT,
    ATTENTION,
    CATEGORIES,
    DIFFERENCE,
    EMPHASIS,
    NEUTRAL,
    data_uri,
    hatching,
    largest,
    max_pool,
    tiles,
    top,
)

# white, and what Streamlit's dark theme and its sidebar are made of
PAGES = ("#ffffff", "#0e1117", "#171614")


def stops(scale):
    return np.array([[float(part) for part in colour[5:-1].split(",")] for colour in scale])


def linear(rgb):
    rgb = np.asarray(rgb) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb):
    """https://bottosson.github.io/posts/oklab/"""
    to_cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
    to_cones.append([0.0883024619, 0.2817188376, 0.6299787005])
    to_lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
    to_lab.append([0.0259040371, 0.7827717662, -0.8086757660])
    return np.cbrt(linear(rgb) @ np.transpose(to_cones)) @ np.transpose(to_lab)


def on_page(scale, page, n=33):
    """OKLab of `n` even steps of a scale, as ink on a page."""
    table = stops(scale)
    fine = np.linspace(0, 1, n)
    colours = np.stack([np.interp(fine, np.linspace(0, 1, len(table)), c) for c in table.T], axis=1)
    opacity = colours[:, 3:]
    return oklab(colours[:, :3] * opacity + np.array(ImageColor.getrgb(page)) * (1 - opacity))


def contrast(colour, page):
    """https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio"""
    a, b = (linear(ImageColor.getrgb(c)) @ [0.2126, 0.7152, 0.0722] for c in (colour, page))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


@pytest.mark.parametrize("page", PAGES)
def test_more_attention_is_ever_further_from_the_page(page):
    lightness = np.diff(on_page(ATTENTION, page)[:, 0])
    assert (lightness < 0).all() if page == "#ffffff" else (lightness > 0).all()


@pytest.mark.parametrize("page", PAGES)
def test_steps_of_attention_look_about_equally_wide(page):
    steps = np.linalg.norm(np.diff(on_page(ATTENTION, page), axis=0), axis=1)
    assert steps.std() / steps.mean() < 0.25


def test_zero_is_transparent_in_both_scales():
    assert stops(ATTENTION)[0, 3] == 0
    assert stops(DIFFERENCE)[len(DIFFERENCE) // 2, 3] == 0


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", [ACCENT, EMPHASIS, NEUTRAL])
def test_plain_colours_read_on_every_page(colour, page):
    assert contrast(colour, page) >= 3  # what WCAG asks of graphics


def test_a_tile_has_the_colours_of_the_scale():
    zero, half, one = pixels(*tiles(np.array([[0, 0.5, 1]], dtype=np.float32), side=3))[0]
    assert zero[3] == 0
    assert one.tolist() == [216, 42, 83, 255]
    assert np.abs(half - np.array([96, 107, 222, 0.665 * 255])).max() <= 1


def test_a_tile_is_enlarged_without_blur():
    picture = pixels(*tiles(np.eye(5), side=100))
    assert picture.shape == (100, 100, 4)
    assert (picture == picture[::20, ::20].repeat(20, axis=0).repeat(20, axis=1)).all()


def test_a_tile_never_runs_off_the_scale():
    picture = pixels(*tiles(np.array([[1, 1.2]]), side=2))
    assert (picture[0, 0] == picture[0, 1]).all()


def test_each_tile_reaches_to_one_or_to_its_own_maximum():
    patterns = np.array([[[0.25, 0]], [[1, 0]], [[0, 0]]], dtype=np.float32)
    faint, full, empty = (pixels(tile)[0, 0].tolist() for tile in tiles(patterns, scale="own", side=2))
    assert faint == full == [216, 42, 83, 255]
    assert empty[3] == 0
    assert pixels(tiles(patterns, side=2)[0])[0, 0].tolist() != full


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_pattern_makes_no_tile(shape):
    with pytest.raises(ValueError, match="at least one query"):
        tiles(np.zeros(shape))


def test_a_lone_weight_survives_pooling():
    matrix = np.zeros((256, 256))
    matrix[130, 201] = 0.7
    pooled = max_pool(matrix, 64)
    assert pooled.shape == (64, 64)
    assert np.argwhere(pooled).tolist() == [[130 // 4, 201 // 4]]


def test_what_fits_is_not_pooled():
    matrix = np.random.default_rng(0).random((3, 64))
    assert (max_pool(matrix, 64) == matrix).all()


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 20))
def test_pooling_keeps_the_size_within_bounds_and_the_maximum(rows, columns, at_most):
    matrix = np.random.default_rng(0).random((rows, columns))
    pooled = max_pool(matrix, at_most)
    assert pooled.shape == (min(rows, at_most), min(columns, at_most))
    assert pooled.max() == matrix.max()


def test_a_picture_comes_back_as_it_was():
    grey = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
    assert (pixels(data_uri(grey))[..., 0] == grey).all()
    colour = np.random.default_rng(0).integers(0, 256, (4, 4, 4), dtype=np.uint8)
    assert (pixels(data_uri(colour, side=8)) == colour.repeat(2, axis=0).repeat(2, axis=1)).all()


def test_what_is_forbidden_is_hatched_and_nothing_else():
    mask = np.tril(np.ones((4, 4), dtype=bool))
    ink = pixels(hatching(mask))[..., 3] > 0
    height, width = ink.shape
    cells = ink.reshape(4, height // 4, 4, width // 4).mean((1, 3))
    assert (cells[mask] == 0).all()
    assert ((cells[~mask] > 0.1) & (cells[~mask] < 0.6)).all()
    assert pixels(hatching(np.zeros((2, 5), dtype=bool))).shape[:2] == (320, 800)


def test_the_end_of_a_symmetric_scale():
    assert largest(np.array([[0.5, -2.0]])) == 2
    assert largest(np.array([1e-7]), at_least=1e-6) == 1
    assert largest(np.zeros((2, 2))) == largest(np.zeros((0, 4))) == 1


def test_the_top_of_the_scale():
    assert top(np.array([0.1, 0.4]), "fixed") == 1
    assert top(np.array([0.1, 0.4]), "own") == 0.4
    assert top(np.zeros(3), "own") == 1
    assert top(np.zeros(0), "own") == 1
    with pytest.raises(ValueError, match="'log'"):
        top(np.zeros(3), "log")


def test_no_two_kinds_and_no_choice_look_alike():
    assert len({*CATEGORIES, ACCENT}) == len(CATEGORIES) + 1
