"""Both checkpoints of a pair on one page."""

import re

from playwright.sync_api import Page, expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready


def test_a_click_on_either_side_chooses_for_both(page: Page) -> None:
    page.goto("/compare?kind=Digit")
    ready(page)
    for placement, layer in (("pre-LN", 2), ("post-LN", 4)):
        press(page, mark(page, f"overview_{placement}", f"L{layer} H3"))
        expect(page).to_have_url(re.compile(rf"[?&]layer={layer}"))
        for side in ("pre-LN", "post-LN"):
            chosen = page.locator(f'.st-key-overview_{side} [aria-label*="L{layer} H3 is chosen"]')
            expect(chosen).to_be_attached()
    expect(page.get_by_text("do not correspond by number")).to_be_visible()
    page.locator(".st-key-compared").get_by_text("post-LN minus pre-LN").click()
    expect(page.locator(".st-key-difference")).to_be_visible()
