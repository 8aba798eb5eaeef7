import re

import numpy as np
import pytest

from tests.viz.scene import drawn
from tests.viz.similarity.test_pictures_beside import GREY, PHOTO
from viz.builders.figure import VegaFigure
from viz.builders.palette import ACCENT, FALLS, RISES
from viz.similarity import patch_map as module
from viz.similarity.patch_map import patch_map

ANGLES = np.linspace(0, np.pi, 10)
COSINES = np.cos(ANGLES[:, None] - ANGLES)  # of states that turn by half a circle
GRIDS = [(2, 3), (2, 2)]


def of_two(patch: int = 4, cosines: np.ndarray = COSINES) -> VegaFigure:
    return patch_map(cosines, [GREY, PHOTO], GRIDS, patch)


def after(figure: VegaFigure, **pointed: int) -> VegaFigure:
    """The figure while the pointer is `over` a patch, or after a click on the `patch`."""
    texts = {name: f"{{index: [{index}]}}" for name, index in pointed.items()}
    parameters = [
        {
            **parameter,
            "expr": re.sub(
                r"\b(over|patch)\.index",
                lambda part: f"({texts.get(part[1], '{}')}).index",
                parameter["expr"],
            ),
        }
        if "expr" in parameter
        else parameter
        for parameter in figure.specification["params"]
    ]
    return VegaFigure({**figure.specification, "params": parameters}, figure.frames)


def framed(figure: VegaFigure) -> list[tuple[float, float]]:
    """Where green frames are that can be seen: the kept patch, and the one that is pointed at."""
    frames = [item for layer in drawn(figure) for item in layer if item.get("stroke") == ACCENT]
    return [(item["x"], item["y"]) for item in frames if item.get("strokeOpacity", 1) > 0]


def line(figure: VegaFigure) -> str:
    (text, *_others) = drawn(figure)[-1]
    return text["text"]


def test_colours_are_the_cosines_with_the_patch():
    figure = of_two()
    assert figure.frame["cosine"].tolist() == COSINES[4].tolist()
    assert line(figure) == "Cosine with r1c1 of the first picture"
    colours = [item["fill"] for item in drawn(figure)[0]]
    assert colours[4] == "rgba(154,130,0,1.000)"
    assert len(framed(figure)) == 1


def test_the_pointer_shows_another_patch_and_its_cosine_with_the_kept_one():
    figure = of_two()
    pointed = after(figure, over=7)
    assert (
        line(pointed)
        == f"Cosine with r0c1 of the second picture; with the clicked r1c1 of the first picture: {COSINES[4, 7]:.2f}"
    )
    assert [item["fill"] for item in drawn(pointed)[0]] == [item["fill"] for item in drawn(of_two(7))[0]]
    assert len(framed(pointed)) == 2
    assert framed(pointed)[0] == framed(figure)[0]


def test_a_click_keeps_a_patch():
    clicked = after(of_two(), patch=7)
    assert line(clicked) == "Cosine with r0c1 of the second picture"
    assert framed(clicked) == framed(of_two(7))


def test_a_letter_stands_for_the_nearest_step_of_the_cosine():
    cosines = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan], [0, np.nan, -1]])
    figure = patch_map(cosines, [GREY], [(1, 3)], 0)
    assert [item["fill"] for item in drawn(figure)[0]] == [
        "rgba(154,130,0,1.000)",
        "transparent",
        "rgba(128,128,128,0.000)",
    ]
    assert [item["fill"] for item in drawn(patch_map(cosines, [GREY], [(1, 3)], 2))[0]][
        2
    ] == "rgba(166,60,196,1.000)"
    assert line(after(figure, over=1)) == "Cosine with r0c1; with the clicked r0c0: none"
    assert (FALLS, RISES) == ("#a63cc4", "#9a8200")


def test_numbers_are_exact_to_a_thousandth():
    random = np.random.default_rng(0).uniform(-1, 1, (10, 10))
    for kept, pointed in ((0, 9), (5, 2), (8, 3)):
        text = line(after(of_two(kept, random), over=pointed))
        assert float(text.rsplit(": ", 1)[1].replace("−", "-")) == pytest.approx(
            random[kept, pointed], abs=0.0055
        )


def test_of_too_many_patches_the_pointer_shows_nothing_else(monkeypatch):
    monkeypatch.setattr(module, "MOST_PATCHES", 9)
    figure = of_two()
    assert {len(text) for text in figure.frame["cosines"]} == {1}
    assert line(after(figure, over=7)) == line(figure)
    assert [item["fill"] for item in drawn(figure)[0]][4] == "rgba(154,130,0,1.000)"


@pytest.mark.parametrize(
    ("grid", "patch", "message"),
    [
        ((2, 3), 10, "the patches are 0 to 9, got 10"),
        ((1, 3), 0, "cosines of grids of 1 × 3 and 2 × 2 patches have the shape (7, 7), got (10, 10)"),
    ],
)
def test_what_does_not_fit_is_refused(grid, patch, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        patch_map(COSINES, [GREY, PHOTO], [grid, (2, 2)], patch)
