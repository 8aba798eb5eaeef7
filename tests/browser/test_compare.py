"""Two checkpoints on one page."""

import re

from playwright.sync_api import Page, expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready


def test_a_click_on_either_side_chooses_for_both(page: Page) -> None:
    page.goto("/compare?kind=Digit")
    ready(page)
    for side, head in (("first", "L2 H3"), ("second", "L4 H1")):
        press(page, mark(page, f"overview_{side}", head))
        chosen = page.locator(f'.st-key-overview_{side} [aria-label*="{head} is chosen"]')
        expect(chosen).to_be_attached()
        expect(page.get_by_text(re.compile(rf"{head} of .* ↔|↔ {head} of"))).to_be_visible()
    press(page, mark(page, "query_second", "r3c3"))
    expect(page).to_have_url(re.compile(r"[?&]query=r3c3"))
    for side in ("first", "second"):
        where = page.locator(f'.st-key-query_{side} [aria-label*="attention of row 3, column 3"]')
        expect(where).to_be_attached()


def test_from_a_disagreement_to_the_head_that_differs_in_three_clicks(page: Page) -> None:
    page.goto("/compare?kind=Digit")
    ready(page)
    said = page.get_by_test_id("stMetricValue")
    expect(said).to_have_count(2)
    page.get_by_role("button", name="Next disagreement").click()  # 1
    expect(page).to_have_url(re.compile(r"[?&]digit=\d"))
    ready(page)
    first, second = said.all_inner_texts()
    assert first != second
    page.locator(".st-key-compare_part").get_by_text("Difference").click()  # 2
    expect(page.locator(".st-key-difference")).to_be_visible()
    page.get_by_role("button", name="Pair that differs most").click()  # 3
    expect(page.get_by_text(re.compile(r"none of \d+ pairs is further apart"))).to_be_visible()
    ready(page)  # until then the figure of the run before stands beside the new one
    expect(page.locator(".st-key-difference")).to_be_visible()
