"""The app starts, and everything stays in reach of the pointer."""

import re

import pytest
from playwright.sync_api import expect

from app_pages.controls.pages import PAGES
from tests.browser.acting import page_link
from tests.browser.watching import ready, visit

NAMES = [page.title for page in PAGES.values()]


@pytest.mark.parametrize("color_scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_first_page_paints(page, color_scheme):
    visit(page, "/")
    expect(page).to_have_title(re.compile("Attention"))
    expect(page.locator(".answer")).to_be_visible()
    expect(page.locator(".st-key-all_heads_chart canvas").first).to_be_visible()
    background = page.get_by_test_id("stApp").evaluate("app => getComputedStyle(app).backgroundColor")
    red, green, blue = map(int, re.findall(r"\d+", background)[:3])
    assert (red + green + blue > 3 * 255 / 2) == (color_scheme == "light")


@pytest.mark.slow
def test_the_link_of_a_view_is_copied(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, "/?text=great+film&layer=1")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_every_page_is_one_click_away_and_the_one_that_is_open_is_marked(page):
    visit(page, "/masks")
    for width in (1920, 1280, 800):
        page.set_viewport_size({"width": width, "height": 800})
        for name in NAMES:
            link = page_link(page, name)
            expect(link).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-here")).to_have_text("Masks")
    page_link(page, "Side by side").click()
    expect(page).to_have_url(re.compile("/compare"))
    expect(page.locator(".st-key-here", has_text="Side by side")).to_be_visible()  # the other mark goes later
    ready(page)
    expect(page.locator(".st-key-here")).to_have_text("Side by side")


@pytest.mark.slow
def test_a_first_look_leads_to_a_word_whose_hiding_is_told(page):
    visit(page, "/")
    page.get_by_role("button", name="hiding a word").click()
    expect(page).to_have_url(re.compile(r"/masks.*[?&]masks_keys=\d"))
    expect(page.get_by_text(re.compile("^Without “.*”, the prediction"))).to_be_visible()


@pytest.mark.slow
def test_a_first_look_leads_to_one_digit_under_two_norms(page):
    visit(page, "/")
    page.get_by_role("button", name="pre-LN and post-LN").click()
    expect(page).to_have_url(re.compile(r"/compare.*[?&]kind=Digit"))
    expect(page.locator("[class*=st-key-side_heads] .headline", has_text="%")).to_have_count(2)  # the answers
    expect(page.locator(".st-key-picture img")).to_be_visible()
