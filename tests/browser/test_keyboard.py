"""Heads are stepped through with the arrow keys while their map has the focus; elsewhere the keys stay what they are."""

import re

from playwright.sync_api import Page, expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready


def test_arrow_keys_step_through_heads_from_a_map_that_has_the_focus(page: Page) -> None:
    page.goto("/?text=great+film")
    ready(page)
    press(page, mark(page, "overview", "L1 H1"))
    expect(page).to_have_url(re.compile(r"[?&]layer=1"))
    ready(page)
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]head=2"))
    ready(page)
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"[?&]layer=2"))
    ready(page)
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"[?&]head=1"))
    ready(page)
    page.keyboard.press("ArrowLeft")
    expect(page).not_to_have_url(re.compile(r"[?&]head="))  # 0, as without any choice, leaves the address


def test_elsewhere_arrow_keys_scroll(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto("/?text=great+film")
    ready(page)
    main = page.get_by_test_id("stMain")
    main.get_by_role("heading").first.click()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 0")
    expect(page).not_to_have_url(re.compile(r"[?&](layer|head)="))


def test_arrow_keys_move_in_a_box_of_text(page: Page) -> None:
    page.goto("/?text=great+film")
    ready(page)
    box = page.get_by_role("textbox", name="Text")
    box.click()
    page.keyboard.press("ArrowRight")
    box.fill("great plot")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"[?&]text=great\+plot"))
    # A head that the arrow had chosen would stand there by now.
    expect(page).not_to_have_url(re.compile(r"[?&]head="))
