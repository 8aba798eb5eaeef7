"""Colour bars keep their colours when the address changes, which Vega writes into them (vega/vega #3948)."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.linked_chart import tokens
from tests.browser.watching import ready

pytestmark = pytest.mark.slow


def test_a_bar_keeps_its_colours_after_a_click_that_does_not_redraw_it(page):
    page.goto("/?text=a+great+film&layer=1&view=lines")
    ready(page)
    bar = page.locator(".st-key-overview .role-legend-gradient path")
    assert n_colours(bar) > 20
    tokens(page).nth(2).click()
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
    page.goto(address)
    ready(page)
    if label == "Layer":
        page.get_by_role("combobox", name="Layer").click()
        page.get_by_role("option", name="1", exact=True).click()
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
