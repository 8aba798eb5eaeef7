"""The steps of a block: unfolded by a click in its diagram, followed by a click on a key."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_links import mark, opened_elsewhere, press, views
from tests.browser.watching import ready


@pytest.mark.parametrize(("kind", "color_scheme"), [("Text", "light"), ("Digit", "dark")])
def test_from_the_diagram_to_a_key(page: Page, kind: str, color_scheme: str) -> None:  # noqa: ARG001
    page.goto(f"/inside_a_head?kind={kind}")
    ready(page)
    products = page.locator('[aria-label^="product of q and k"]')
    expect(products).to_be_visible()
    box = page.locator('.st-key-inside_map [aria-label*="weighted sum of v"][role=graphics-symbol]').first
    press(page, box)
    expect(page).to_have_url(re.compile("inside_step_softmax=false"))
    expect(products).to_have_count(0)
    expect(page.locator('[aria-label^="component of A v"]')).to_be_visible()

    page.get_by_text(re.compile("· Softmax$")).click()
    second = page.locator(".st-key-inside_weights .mark-rect [aria-label]").nth(1)
    name = second.get_attribute("aria-label")
    press(page, second)
    expect(page).to_have_url(re.compile("inside_key="))
    chosen = page.locator(f'.st-key-inside_weights [aria-label$="{name} framed"]')
    expect(chosen).to_be_visible()

    other = opened_elsewhere(page)
    expect(other.locator(f'.st-key-inside_weights [aria-label$="{name} framed"]')).to_be_visible()
    assert views(other) == views(page)


def test_a_click_on_the_text_makes_another_query(page: Page) -> None:
    page.goto("/inside_a_head?text=a+great+film")
    ready(page)
    press(page, mark(page, "inside_input", "film"))
    expect(page).to_have_url(re.compile(r"[?&]query=3"))
    expect(page.get_by_text("query 3 film", exact=False)).to_be_visible()
    press(page, mark(page, "inside_map", "1  x"))
    expect(page).to_have_url(re.compile("inside_step_input=true"))
    expect(page.locator('[aria-label^="x of xᵢ  3 film"]')).to_be_visible()
