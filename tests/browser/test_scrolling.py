"""A page opens at its top or at the figure that its link promises, and Back where one was."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import page_link
from tests.browser.test_first_screen import bottom, top
from tests.browser.watching import eventually, ready, visit

pytestmark = pytest.mark.slow

MAIN = "document.querySelector('[data-testid=stMain]')"
TOP, HEIGHT = f"{MAIN}.scrollTop", f"{MAIN}.scrollHeight"
WINDOW = {"width": 1280, "height": 800}


def test_a_page_opens_at_its_top_and_back_where_one_was(page):
    visit(page, "/positions", **WINDOW)
    down = wheel(page, 700)
    page_link(page, "Norm placement").click()
    expect(page.get_by_role("heading", name="Norm placement")).to_be_in_viewport()
    expect(page.locator(".st-key-claims a").last).to_be_visible()
    wait_at(page, 0)
    answer = page.locator(".st-key-norm_answer")
    eventually(page, lambda: bottom(answer) < WINDOW["height"])  # whole, without scrolling
    further_down = wheel(page, 600)
    page.go_back()
    expect(page.get_by_role("heading", name="Positions", level=1)).to_be_attached()
    wait_at(page, down)
    page.go_forward()
    expect(page.locator(".st-key-claims a").last).to_be_visible()
    wait_at(page, further_down)
    page.reload()
    expect(page.locator(".st-key-claims a").last).to_be_visible()
    wait_at(page, further_down)


def test_a_page_that_is_laid_out_once_more_stays_where_the_reader_has_scrolled_to(page):
    visit(page, "/norm_placement", **WINDOW)
    down = wheel(page, 600)
    page.reload()
    expect(page.locator(".st-key-claims a").last).to_be_visible()
    wait_at(page, down)
    page.mouse.move(*middle())
    page.mouse.wheel(0, -5000)
    wait_at(page, 0)
    before = page.evaluate(HEIGHT)
    page.set_viewport_size({**WINDOW, "width": 900})
    page.wait_for_function(f"{HEIGHT} != {before}")
    wait_at(page, 0)


def test_the_figure_of_a_claim_opens_at_its_heading_whatever_was_chosen_on_its_page(page):
    visit(page, "/theory?theory_part=First+steps&theory_depth=4&theory_seeds=2", **WINDOW)
    page_link(page, "Norm placement").click()
    figure = page.locator(".st-key-claims a[href*='figure=theory_by_layer']")
    expect(figure).to_be_visible()
    ready(page)  # what is still being drawn moves, also between press and release
    figure.click()
    expect(page).to_have_url(re.compile("/theory"))
    heading = page.get_by_text("Would it pull equally hard at every layer?", exact=True)
    below_the_navigation(page, heading)
    page.go_back()
    expect(figure).to_be_in_viewport()


def test_a_step_that_the_guide_promises_is_in_sight(page):
    visit(
        page,
        "/reading?reading_part=Lectures&reading_place=A+second+lecture%3A+where+the+LayerNorm+is+placed",
        width=1280,
        height=500,
    )
    page.get_by_role("link", name="Post-LN", exact=True).click()
    expect(page).to_have_url(re.compile("/inside_a_head"))
    below_the_navigation(page, page.locator(".st-key-inside_step_norm_attention"))
    page.go_back()
    expect(page.get_by_role("link", name="Post-LN", exact=True)).to_be_in_viewport()


def wheel(page: Page, pixels: int) -> float:
    """Scrolls as the reader does, and returns how far down the page is then."""
    ready(page)
    page.wait_for_function(f"{HEIGHT} - {MAIN}.clientHeight > {pixels}")  # there is so much to scroll
    page.mouse.move(*middle())
    page.mouse.wheel(0, pixels)
    wait_at(page, pixels)
    return page.evaluate(TOP)


def middle() -> tuple[int, int]:
    return WINDOW["width"] - 20, WINDOW["height"] // 2


def wait_at(page: Page, pixels: float) -> None:
    """Waits until the page is so far down and stays there, as far as its drawing goes."""
    ready(page)
    page.wait_for_function(f"Math.abs({TOP} - {pixels}) <= 1")


def below_the_navigation(page: Page, what: Locator) -> None:
    expect(what).to_be_visible()
    ready(page)
    navigation = page.locator(".st-key-navigation")
    eventually(page, lambda: abs(top(what) - bottom(navigation)) < 40)
