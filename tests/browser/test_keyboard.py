"""Heads are stepped through with the arrow keys, which stay what they are in a box of text."""

import re

from playwright.sync_api import Page, expect

from tests.browser.watching import ready


def test_arrow_keys_step_through_heads(page: Page) -> None:
    page.goto("/")
    ready(page)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]head=1"))
    ready(page)
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"[?&]layer=1"))
    ready(page)
    page.keyboard.press("ArrowLeft")
    expect(page).not_to_have_url(re.compile(r"[?&]head="))  # 0, as without any choice, leaves the address
    ready(page)
    box = page.get_by_role("textbox", name="Text")
    box.click()
    page.keyboard.press("ArrowRight")
    box.fill("great film")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"[?&]text=great"))
    # A head that the arrow had chosen would stand there by now.
    expect(page).not_to_have_url(re.compile(r"[?&]head="))
