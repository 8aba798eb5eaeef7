"""One weight has one colour, whatever draws it and in whichever theme; and colour bars keep their colours when the address
changes, which Vega writes into them (vega/vega #3948).
"""

import io
import re
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser import linked_chart
from tests.browser.acting import choose
from tests.browser.watching import eventually, ready, rectangle, visit
from viz.builders.palette import WEIGHTS

pytestmark = pytest.mark.slow

TOKENS = ["[CLS]", "the", "plot", "is", "thin", ",", "but", "i", "was", "never", "bored", ".", "[SEP]"]
QUERY = 4
LARGEST = 600  # pixels; no map is larger


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_a_weight_has_one_colour_in_the_text_the_large_map_and_the_small_map(page, color_scheme):
    visit(
        page,
        "/?text=The+plot+is+thin,+but+I+was+never+bored.&checkpoint=imdb-pre-ln&layer=1&head=1&query=4+thin",
    )
    expect(linked_chart.tokens(page)).to_have_text(TOKENS)
    row = _extent(page, linked_chart.point_at_row(page, QUERY), needs="over_key", over_query=QUERY)
    tile = _extent(page, linked_chart.point_at_head(page, 1, 1), over_layer=1, over_head=1)
    page.mouse.move(2, 2)
    linked_chart.wait_until_told(page, over_layer=None, over_head=None, over_query=None)
    n = len(TOKENS)
    page_itself = Image.new("RGB", (1, 1), WEIGHTS[0 if color_scheme == "light" else -1]).getpixel((0, 0))

    def agree() -> bool:
        seen = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), int)
        # Beside the letters of a token, and in the large map beside the frame of the row and the number in the cell.
        boxes = [rectangle(linked_chart.token(page, position)) for position in range(n)]
        in_text = np.array([seen[round(box["y"] + box["height"] / 2), round(box["x"]) + 3] for box in boxes])
        in_large = np.array([_at(seen, row, (key + 0.15) / n, 0.25) for key in range(n)])
        in_small = np.array([_at(seen, tile, (key + 0.5) / n, (QUERY + 0.5) / n) for key in range(n)])
        inner = slice(1, -1)  # the green frame of the small map covers its borders
        away = np.abs(in_large - page_itself).sum(axis=1)
        return bool(
            np.abs(in_text - in_large).max() <= 1
            and np.abs(in_small - in_large)[inner].max() <= 2  # a small map has 256 colours
            and away.max() > 150  # there is something to compare
            and away.min() < 12  # and what gets nothing is the page
        )

    eventually(page, agree)


def _extent(
    page: Page, inside: tuple[float, float], *, needs: str = "stamp", **over: int
) -> tuple[float, float, float, float]:
    """Left, upper, right and lower end, in pixels of the page, of what answers the pointer with `over`."""
    box = rectangle(linked_chart.canvas(page))
    x, y = box["x"] + inside[0], box["y"] + inside[1]

    def answers(x: float, y: float) -> bool:
        page.mouse.move(x, y)
        values = linked_chart.told(page)
        return needs in values and all(values.get(name) == value for name, value in over.items())

    def end(is_inside: Callable[[float], bool], start: float, stop: float) -> float:
        while abs(stop - start) > 0.5:
            middle = (start + stop) / 2
            start, stop = (middle, stop) if is_inside(middle) else (start, middle)
        return start

    left, right = (end(lambda x: answers(x, y), x, limit) for limit in (max(x - LARGEST, 0), x + LARGEST))
    top, bottom = (end(lambda y: answers(x, y), y, limit) for limit in (box["y"], box["y"] + box["height"]))
    return left, top, right, bottom


def _at(
    seen: np.ndarray, extent: tuple[float, float, float, float], across: float, down: float
) -> np.ndarray:
    """The colour at shares of the width and height of the `extent`."""
    left, top, right, bottom = extent
    return seen[int(top + down * (bottom - top)), int(left + across * (right - left))]


def test_a_bar_keeps_its_colours_after_a_click_that_does_not_redraw_it(page):
    visit(page, "/?text=a+great+film&layer=1&view=lines")
    bar = page.locator(".st-key-overview .role-legend-gradient path")
    assert n_colours(bar) > 20
    linked_chart.tokens(page).nth(2).click()
    expect(page).to_have_url(re.compile("query=2"))
    coloured(page, bar)


@pytest.mark.parametrize(
    ("address", "label"),
    [
        ("/masks?text=a+great+film&masks_kind=Causal", "What follows"),
        ("/inside_a_head?inside_step=Query%2C+key+and+value", "Layer"),
    ],
)
def test_every_bar_of_a_page_refers_to_a_gradient_of_its_own_in_the_page(page, address, label):
    visit(page, address)
    if label == "Layer":
        choose(page, "Layer", "1")
        expect(page).to_have_url(re.compile("layer="))
    else:
        page.get_by_role("radio", name=label).click()
        expect(page).to_have_url(re.compile("masks_part"))
    bars = page.locator(".role-legend-gradient path[fill^='url(']")
    expect(bars.first).to_be_visible()
    ready(page)  # while a figure is drawn anew, the one before it stands there as well
    for bar in bars.all():
        coloured(page, bar)


def coloured(page: Page, bar: Locator) -> None:
    ready(page)
    expect(bar).to_have_attribute("fill", re.compile(r"^url\(#[^)]+\)$"))
    name = bar.get_attribute("fill")[5:-1]
    expect(page.locator(f"[id='{name}']")).to_have_count(1)
    assert n_colours(bar) > 20


def n_colours(bar: Locator) -> int:
    """How many there are from left to right in its middle."""
    bar.scroll_into_view_if_needed()
    seen = np.asarray(Image.open(io.BytesIO(bar.screenshot())).convert("RGB"))
    return len(np.unique(seen[len(seen) // 2], axis=0))
