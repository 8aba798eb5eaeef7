"""The film plays by itself, and stops where somebody stops it."""

import re

from playwright.sync_api import Page, expect

from tests.browser.watching import ready


def test_the_film_plays_and_pauses(page: Page) -> None:
    page.goto("/training?kind=Digit")
    ready(page)
    expect(page.get_by_text("step 0 of").first).to_be_visible()
    page.get_by_role("button", name="Play").click()
    expect(page).to_have_url(re.compile(r"[?&]moment=[3-9]"))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page.get_by_text("step 0 of")).to_have_count(0)
    page.get_by_role("slider", name="Recorded moment").press("End")
    expect(page.get_by_text(re.compile(r"step 12,319 of 12,320")).first).to_be_visible()
