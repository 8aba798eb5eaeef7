import numpy as np
import pytest

from tests.viz.pixels import pixels
from tests.viz.scene import drawn
from tests.viz.similarity.test_pictures_beside import GREY, PHOTO
from viz.builders.figure import VegaFigure
from viz.builders.number_format import percent
from viz.builders.palette import ACCENT, WEIGHTS
from viz.similarity.patch_pictures import layer_patches, patch_colour_map, patch_norm_map

GRIDS = [(2, 3), (2, 2)]
COLOURS = np.linspace(0, 1, 30).reshape(10, 3)
NORMS = [np.array([1.0, 2, 3, 4, 5, 30]), np.array([1.0, 2, 3, 4])]


def colour_map() -> VegaFigure:
    return patch_colour_map(COLOURS, (0.5, 0.25, 0.0004), [GREY, PHOTO], GRIDS)


def norm_map(**options: object) -> VegaFigure:
    return patch_norm_map(NORMS, [(5,), ()], [GREY, PHOTO], GRIDS, **options)


def small(**options: object) -> VegaFigure:
    return layer_patches(np.stack([np.concatenate(NORMS)] * 3), GRIDS, ["", "1 + 0", ""], layer=1, **options)


def texts(figure: VegaFigure) -> list[str]:
    return [item["text"] for layer in drawn(figure) for item in layer if item.get("text")]


def test_patches_have_the_colours():
    figure = colour_map()
    boxes = drawn(figure)[0]
    assert boxes[0]["fill"] == "#000912"  # 0, 1/29 and 2/29 of 255
    assert boxes[9]["fill"] == "#edf6ff"
    assert texts(figure) == [
        f"red {percent(0.5)}, green {percent(0.25)}, blue under {percent(0.001)} of the variance"
    ]
    assert figure.frame["red"].tolist() == COLOURS[:, 0].tolist()


def test_patches_have_the_colours_of_their_lengths_and_outliers_a_frame():
    figure = norm_map()
    boxes, _, frames, _, _ = drawn(figure)
    assert len(boxes) == 10
    assert (boxes[0]["fill"], boxes[5]["fill"]) == ("rgb(255, 255, 255)", "rgb(23, 22, 20)")
    assert (WEIGHTS[0], WEIGHTS[-1]) == ("#ffffff", "#171614")
    (frame,) = frames
    assert (frame["x"], frame["y"]) == (boxes[5]["x"], boxes[5]["y"])
    assert texts(figure) == ["1 of 6 patches framed", "0 of 4 patches framed"]


def test_registers_stand_beside_the_patches():
    figure = norm_map(registers=[np.array([1.234, 100.0]), np.array([2.0])])
    assert texts(figure)[2:] == ["registers: 1.23 · 100", "registers: 2"]


def test_equal_lengths_have_one_colour():
    figure = patch_norm_map([np.ones(4)], [()], [PHOTO], [(2, 2)])
    assert len({box["fill"] for box in drawn(figure)[0]}) == 1


def test_small_pictures_have_a_pixel_a_patch():
    figure = small()
    urls = figure.frame["on_light_0"]
    assert len(urls) == 3  # one for each layer
    picture = pixels(urls[0])
    assert picture.shape[:2] == (2, 3)
    assert picture[0, 0, :3].tolist() == [255, 255, 255]  # the smallest of the layer
    assert picture[1, 2, :3].tolist() == [23, 22, 20]
    coloured = layer_patches(COLOURS[None], GRIDS, [""], layer=0)
    np.testing.assert_array_equal(
        pixels(coloured.frame["on_dark_1"][0])[..., :3].reshape(4, 3), np.rint(COLOURS[6:] * 255)
    )


def test_the_file_of_small_pictures_has_the_numbers_of_each_patch():
    lengths = small().table()
    assert lengths.columns.tolist() == ["layer", "picture", "patch", "norm"]
    assert lengths["norm"].tolist() == [*np.concatenate(NORMS)] * 3
    assert lengths.iloc[16].tolist() == [1, "second picture", "r0c0", 1.0]
    colours = layer_patches(np.stack([COLOURS, COLOURS / 2]), GRIDS, ["", ""], layer=0).table()
    np.testing.assert_array_equal(colours[["red", "green", "blue"]], np.vstack([COLOURS, COLOURS / 2]))


def test_the_chosen_layer_is_framed_and_notes_stand_beside_names():
    figure = small()
    assert texts(figure) == ["L0", "L1 · 1 + 0", "L2"]
    *_, cover = drawn(figure)
    assert [box["stroke"] == ACCENT for box in cover] == [False, True, False]


def test_values_that_do_not_fit_are_refused():
    message = "grids of 2 × 3 and 2 × 2 patches have 10 values, got 9"
    with pytest.raises(ValueError, match=message):
        patch_colour_map(COLOURS[:9], (1, 0, 0), [GREY, PHOTO], GRIDS)
    with pytest.raises(ValueError, match=message):
        patch_norm_map([NORMS[0], NORMS[1][:3]], [(), ()], [GREY, PHOTO], GRIDS)
    with pytest.raises(ValueError, match=message):
        layer_patches(COLOURS[None, :9], GRIDS, [""], layer=0)
