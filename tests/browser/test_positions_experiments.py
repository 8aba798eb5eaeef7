"""What a click in the figures about positions chooses."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready


@pytest.mark.slow
def test_an_order(page):
    page.goto("/positions?kind=Digit&positions=Experiments")
    ready(page)
    press(page, mark(page, "positions_try_orders", "with positions, seed 5"))
    # Dots may lie on each other, and then the upper one is clicked.
    expect(page).to_have_url(re.compile(r"[?&]positions_try_seed=\d+"))


@pytest.mark.slow
def test_a_token_where_it_is_read_second(page):
    page.goto("/positions?positions=Experiments&text=it+is+not+a+bad+film&positions_try_seed=5")
    ready(page)
    # The token chosen where it is read second is the query where it is read first.
    press(page, mark(page, "positions_try_input_second", "bad"))
    expect(page).to_have_url(re.compile(r"[?&]query=5\+bad"))


@pytest.mark.slow
def test_a_shift(page):
    page.goto("/positions?kind=Digit&positions=Experiments&positions_try=shift+the+positions")
    ready(page)
    expect(page.get_by_text("Shifted by 1", exact=True).first).to_be_visible()
    press(page, mark(page, "positions_try_shifts", "shift 9"))
    expect(page).to_have_url(re.compile(r"[?&]positions_try_shift=9"))
    expect(page.get_by_text("Shifted by 9", exact=True).first).to_be_visible()
    page.get_by_role("slider", name="Shift").press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]positions_try_shift=10"))


@pytest.mark.slow
def test_a_patch_and_its_position(page):
    page.goto("/positions?kind=Digit&positions=This+encoder")
    ready(page)
    press(page, mark(page, "positions_own_grid", "r2c4"))
    expect(page).to_have_url(re.compile(r"[?&]query=r2c4"))
    expect(page.get_by_text("The position of r2c4")).to_be_visible()
    press(page, mark(page, "positions_own_map", "r5c1"))
    expect(page).to_have_url(re.compile(r"[?&]query=r5c1"))
    expect(page.get_by_text("The position of r5c1")).to_be_visible()


@pytest.mark.slow
def test_a_vector(page):
    page.goto("/positions?positions=Embeddings&text=it+is+not+a+bad+film")
    ready(page)
    press(page, mark(page, "positions_map", "film"))
    expect(page).to_have_url(re.compile(r"[?&]query=6\+film"))
    expect(page.locator('.st-key-positions_map [aria-label*="film is chosen"]')).to_be_attached()
