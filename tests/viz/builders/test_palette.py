import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageColor

from tests.viz.pixels import pixels
from tests.viz.vision import BLINDNESS, contrast, difference, rgb, seen
from viz.builders.palette import (
    ACCENT,
    CATEGORIES,
    DIFFERENCE,
    EMPHASIS,
    FALLS,
    LETTERS,
    NEUTRAL,
    PLACEMENTS,
    POST_LN,
    PRE_LN,
    RISES,
    TO_ONE,
    WEIGHTS,
    WeightScale,
    data_uri,
    hatching,
    largest_absolute,
    map_pictures,
    max_pool,
    side_colours,
    weight_colours,
    weight_scale,
    with_token_colours,
)

# Streamlit's pages, and what they have beside them.
LIGHT, DARK = "#ffffff", "#171614"
PAGES = (LIGHT, DARK, "#0e1117")
TENTHS = np.linspace(0, 1, 11)
EYES = (None, *BLINDNESS)
CONFIG = tomllib.loads((Path(__file__).parents[3] / ".streamlit/config.toml").read_text(encoding="utf-8"))


def weights_on(page, blindness=None, places=TENTHS):
    """CIELAB of weights as they are drawn on a page: on a dark one from the table's other end."""
    return seen(weight_colours(places if page == LIGHT else 1 - places), blindness)


def steps(colours):
    return difference(colours[:-1], colours[1:])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [  # of the pairs that Sharma, Wu and Dalal publish
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
        ((50, -1, 2), (50, 0, 0), 2.3669),
    ],
)
def test_the_measure_of_difference_is_the_published_one(one, other, expected):
    assert difference(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_no_weight_is_the_page(page):
    assert difference(weights_on(page)[0], seen(rgb(page))[0]) == 0


@pytest.mark.parametrize("page", [LIGHT, DARK])
@pytest.mark.parametrize("blindness", EYES)
def test_more_attention_is_ever_further_from_the_page(page, blindness):
    lightness = np.diff(weights_on(page, blindness, np.linspace(0, 1, 101))[:, 0])
    assert (lightness < 0).all() if page == LIGHT else (lightness > 0).all()


@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_a_tenth_of_the_scale_is_the_same_step_everywhere(page):
    result = steps(weights_on(page))
    assert 8.5 < result.min() < result.max() < 12
    lightness = np.abs(np.diff(weights_on(page)[:, 0]))
    assert 7.5 < lightness.min() < lightness.max() < 11.5


@pytest.mark.parametrize("page", [LIGHT, DARK])
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_a_tenth_of_the_scale_is_a_step_for_colour_blind_readers(page, blindness):
    result = steps(weights_on(page, blindness))
    assert 6 < result.min() < result.max() < 12


def test_both_themes_have_the_table_from_their_page_on():
    themes = {name: CONFIG["theme"][name]["chartSequentialColors"] for name in ("light", "dark")}
    assert themes == {"light": list(WEIGHTS), "dark": list(WEIGHTS[::-1])}


def on_page(page, blindness=None, n=11):
    """CIELAB of `n` even steps of the signed scale, as ink on a page."""
    stops = np.array([[float(part) for part in colour[5:-1].split(",")] for colour in DIFFERENCE])
    shares = np.linspace(0, 1, len(stops))
    *colours, opacity = (np.interp(np.linspace(0, 1, n), shares, channel) for channel in stops.T)
    ink, opacity = np.stack(colours, axis=-1), opacity[:, None]
    return seen(ink * opacity + np.array(ImageColor.getrgb(page)) * (1 - opacity), blindness)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("blindness", EYES)
def test_a_fall_and_a_rise_are_apart_and_zero_is_the_page(page, blindness):
    result = on_page(page, blindness)
    assert difference(result[5], seen(rgb(page), blindness)[0]) == pytest.approx(0, abs=1e-6)
    for size in (3, 4, 5):  # from 0.6 of the scale on
        assert difference(result[5 - size], result[5 + size]) > 9
    away = difference(result, result[5])
    assert (np.diff(away[:6]) < 0).all()
    assert (np.diff(away[5:]) > 0).all()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("colour", [ACCENT, EMPHASIS, NEUTRAL, PRE_LN, POST_LN, FALLS, RISES, *CATEGORIES])
def test_plain_colours_read_on_every_page(colour, page):
    assert contrast(colour, page) >= 3  # what WCAG asks of graphics


@pytest.mark.parametrize("colour", PLACEMENTS.values())
def test_letters_in_the_colour_of_a_placement_can_be_read(colour):
    on_light, on_dark = LETTERS[colour]
    assert contrast(on_light, LIGHT) >= 4.5
    assert contrast(on_dark, DARK) >= 4.5


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # 0x77 is 0.1845 of the light of white: 1.05 / 0.2345.
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("theme", "page"), [("light", "#ffffff"), ("dark", "#0e1117")])
def test_what_is_chosen_reads_on_the_page_and_on_its_tint(theme, page):
    green = CONFIG["theme"][theme]["primaryColor"]
    tint = "#" + "".join(f"{round(channel):02x}" for channel in (rgb(green) * 0.1 + rgb(page) * 0.9)[0])
    assert min(contrast(green, page), contrast(green, tint)) >= 4.5
    assert contrast(CONFIG["theme"][theme]["codeTextColor"], page) >= 7


@pytest.mark.parametrize("blindness", EYES)
def test_the_two_placements_are_apart(blindness):
    one, other = seen(rgb(PRE_LN, POST_LN), blindness)
    assert difference(one, other) > 25


def test_nothing_else_has_the_hue_of_a_placement_or_of_what_is_chosen():
    others = seen(rgb(EMPHASIS, FALLS, RISES, NEUTRAL, *CATEGORIES))
    for own in seen(rgb(PRE_LN, POST_LN, ACCENT)):
        assert difference(own, others).min() > 19


@pytest.mark.parametrize("blindness", EYES)
def test_kinds_are_apart_from_each_other(blindness):
    colours = seen(rgb(*CATEGORIES), blindness)
    assert min(difference(one, other) for one, other in combinations(colours, 2)) > 10


def test_a_placement_has_its_colour_whichever_comes_first():
    assert side_colours(["pre", "post"]) == (PRE_LN, POST_LN)
    assert side_colours(["post", "pre"]) == (POST_LN, PRE_LN)
    assert side_colours(["post"]) == (POST_LN,)
    assert side_colours(["pre", "b2t"]) == (PRE_LN, PLACEMENTS["b2t"])


def test_where_placements_tell_nothing_apart_no_side_has_their_colours():
    assert side_colours(["post", "post"]) == CATEGORIES[:2]


def test_a_tile_has_the_colours_of_the_scale_from_the_page_on():
    tile = map_pictures(np.array([[0, 0.5, 1]], dtype=np.float32), side=3)
    for theme, shares in (("on_light", [0, 0.5, 1]), ("on_dark", [1, 0.5, 0])):
        result = pixels(tile[theme][0])[0]
        assert (result[:, 3] == 255).all()
        assert np.abs(result[:, :3] - weight_colours(np.array(shares))).max() <= 1


def test_a_tile_is_enlarged_without_blur():
    picture = pixels(map_pictures(np.eye(5), side=100)["on_light"][0])
    assert picture.shape == (100, 100, 4)
    assert (picture == picture[::20, ::20].repeat(20, axis=0).repeat(20, axis=1)).all()


def test_a_tile_never_runs_off_the_scale():
    picture = pixels(map_pictures(np.array([[1, 1.2]]), side=2)["on_light"][0])
    assert (picture[0, 0] == picture[0, 1]).all()


def test_each_tile_reaches_to_one_or_to_its_own_top():
    patterns = np.array([[[0.25, 0]], [[1, 0]], [[0, 0]]], dtype=np.float32)
    first = [pixels(url)[0, 0, :3].tolist() for url in map_pictures(patterns, side=2)["on_light"]]
    assert first[0] == weight_colours(np.array(64 / 255)).round().tolist()
    assert first[1:] == rgb(WEIGHTS[-1], WEIGHTS[0]).tolist()
    own = map_pictures(patterns, tops=np.array([0.25, 2, 0]), side=2)
    faint, half, empty = (pixels(url)[0, 0, :3].tolist() for url in own["on_light"])
    assert faint == rgb(WEIGHTS[-1])[0].tolist()
    assert half == weight_colours(np.array(128 / 255)).round().tolist()
    assert empty == rgb(WEIGHTS[0])[0].tolist()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_an_empty_pattern_makes_no_tile(shape):
    with pytest.raises(ValueError, match="at least one query"):
        map_pictures(np.zeros(shape))


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
    assert largest_absolute(np.array([[0.5, -2.0]])) == 2
    assert largest_absolute(np.array([1e-7]), at_least=1e-6) == 1
    assert largest_absolute(np.zeros((2, 2))) == largest_absolute(np.zeros((0, 4))) == 1


def test_a_scale_reaches_to_one_or_to_the_largest_of_all_that_is_compared():
    weights = np.array([0.1, 0.4]), np.array([0.5])
    assert weight_scale("fixed", "it", *weights) == TO_ONE == WeightScale(1.0, "0 to 1")
    assert weight_scale("own", "the maximum of both", *weights) == WeightScale(
        0.5, "0 to the maximum of both"
    )
    assert weight_scale("own", "it", np.zeros(3), np.zeros(0)) == WeightScale(
        1.0, "all of them 0", all_zero=True
    )
    of = {"what": "relevance", "shares": False}
    assert weight_scale("fixed", "it", *weights, **of) == WeightScale(1.0, "0 to 1", **of)
    assert weight_scale("own", "it", *weights, **of) == WeightScale(0.5, "0 to it", **of)
    with pytest.raises(ValueError, match="'log'"):
        weight_scale("log", "it", np.zeros(3))


def test_a_script_stands_after_the_functions_that_it_calls(tmp_path):
    script = tmp_path / "own.js"
    script.write_text('const red = (share) => between(["#ffffff", "#ff0000"], share);\n', encoding="utf-8")
    shared, own = with_token_colours(script).split("const red", 1)
    assert "function between(" in shared
    assert "function isDark(" in shared
    assert own.startswith(" = (share)")
