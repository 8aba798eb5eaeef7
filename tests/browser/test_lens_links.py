"""The lens of a page stands in its address, and what is clicked through it is a layer where it has no heads."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import linked_chart
from tests.browser.watching import ready


@pytest.mark.slow
def test_a_lens_is_chosen_linked_and_kept_on_side_by_side(page):
    page.goto("/?text=great+film&head=2")
    ready(page)
    page.locator(".st-key-lens input").click()
    page.get_by_role("option", name="value zeroing", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]lens=value\+zeroing"))
    ready(page)
    linked_chart.click_head(page, 2, 0)
    expect(page).to_have_url(re.compile(r"[?&]layer=2"))
    ready(page)
    page.keyboard.press("ArrowRight")  # there are no heads to step through
    ready(page)
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(r"[?&]layer=3"))
    ready(page)
    page.get_by_role("link", name="Side by side").click()
    ready(page)
    expect(page.get_by_text("one map a layer, paired by number")).to_be_visible()
    for side in ("first", "second"):
        linked_chart.wait_until_told(page, f"heads_{side}", layer=3)
    ready(page)  # a run that goes on would close the list
    page.get_by_role("button", name="View").click()
    page.locator(".st-key-lens input").click()
    page.get_by_role("option", name="attention", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]head=2"))  # the head that was chosen before


@pytest.mark.slow
def test_a_link_restores_the_lens_and_the_class(page):
    page.goto("/?text=great+film&lens=gradient+×+attention&lens_class=negative&layer=3")
    ready(page)
    expect(page.locator(".st-key-lens input")).to_have_value("gradient × attention")
    expect(page.locator(".st-key-lens_class input")).to_have_value("negative")
    note = "lens: gradient × attention, of the class negative"
    expect(page.get_by_test_id("stCaptionContainer").get_by_text(note)).to_be_visible()
