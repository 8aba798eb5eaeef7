"""The app starts, and its first page paints."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watching import ready


@pytest.mark.parametrize("color_scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_first_page_paints(page, color_scheme):
    page.goto("/")
    ready(page)
    expect(page).to_have_title(re.compile("Attention"))
    expect(page.locator(".answer")).to_be_visible()
    expect(page.locator(".st-key-all_heads_chart canvas").first).to_be_visible()
    assert (brightness(page) > 0.5) == (color_scheme == "light")


def brightness(page: Page) -> float:
    """Of the background, from 0 to 1."""
    color = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    red, green, blue = (int(part) for part in re.findall(r"\d+", color)[:3])
    return (red + green + blue) / 3 / 255
