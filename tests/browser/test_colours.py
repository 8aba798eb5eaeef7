"""One weight has one colour, whichever library draws it and in whichever theme."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_links import mark
from tests.browser.watching import ready
from viz.builders.palette import WEIGHTS

TOKENS = ["[CLS]", "the", "plot", "is", "thin", ",", "but", "i", "was", "never", "bored", ".", "[SEP]"]
QUERY = 4
SIDE = 1700  # pixels of the window's height: all figures are in sight


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_a_weight_has_one_colour_in_the_text_the_matrix_and_the_tile(page: Page, color_scheme: str) -> None:
    page.set_viewport_size({"width": 1280, "height": SIDE})
    page.goto(
        "/?text=The+plot+is+thin,+but+I+was+never+bored.&checkpoint=imdb-pre-ln&layer=1&head=1&query=4+thin"
    )
    ready(page)
    boxes = [mark(page, "strip", token) for token in TOKENS]
    cells = page.locator(".st-key-matrix .heatmaplayer image").first
    tile = page.locator(".st-key-overview svg image").nth(4 * 1 + 1)  # L1 H1 of four heads a layer
    for each in (*boxes, cells, tile):
        expect(each).to_be_attached()
    page.mouse.move(0, 0)
    seen = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)

    in_text = np.array([_at(seen, box, 0.0, 0.5, right=3) for box in boxes])
    n = len(TOKENS)
    others = np.arange(n) != QUERY  # the token itself stands within its green frame
    # Beside the frame of the row, and the number that is written in the cell.
    in_matrix = np.array([_at(seen, cells, (key + 0.1) / n, (QUERY + 0.25) / n) for key in range(n)])
    # Not too near to the border, where the green frame lies.
    in_tile = np.array([_at(seen, tile, min((key + 0.5) / n, 0.94), (QUERY + 0.5) / n) for key in range(n)])
    assert np.abs(in_text - in_matrix)[others].max() <= 1
    assert np.abs(in_tile - in_matrix).max() <= 2  # a tile has 256 colours
    page_itself = Image.new("RGB", (1, 1), WEIGHTS[0 if color_scheme == "light" else -1]).getpixel((0, 0))
    away = np.abs(in_matrix - page_itself).sum(axis=1)
    assert away.max() > 150  # there is something to compare
    assert away.min() < 12  # and what gets nothing is the page


def _at(seen: np.ndarray, what: Locator, across: float, down: float, right: int = 0) -> np.ndarray:
    """The colour at shares of the width and height of `what`, and so many pixels further to the `right`."""
    box = what.bounding_box()
    assert box is not None
    return seen[round(box["y"] + down * box["height"]), round(box["x"] + across * box["width"]) + right]
