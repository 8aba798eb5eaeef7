"""The page on positions: sliders by keyboard, and a link that opens the same part of it."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.acting import arrives, opened_elsewhere
from tests.browser.watching import eventually, rectangle, visit


def test_clocks_waves_and_table_follow_the_slider_while_it_is_dragged(page):
    visit(page, "/positions?positions_length=32")
    frame = page.locator(".st-key-shown_positions_table .shapelayer path").first
    above = rectangle(frame)
    row = frame.evaluate("path => path.getBBox().height")  # without its frame
    handle = page.locator(".st-key-positions_t input").locator("../..")
    handle.hover()
    page.mouse.down()
    track = rectangle(page.locator(".st-key-positions_t [data-testid=stSliderTickBar]"))
    page.mouse.move(track["x"] + track["width"] * 20 / 31, track["y"])
    expect(clock(page, "clock 0: 3.183 turns").first).to_be_attached()  # 20 / 2 pi
    assert "positions_t" not in page.url  # the server has not heard of it: 10 is the first value
    below = pytest.approx(above["y"] + 10 * row, abs=3)
    eventually(page, lambda: rectangle(frame)["y"] == below)
    page.mouse.up()
    arrives(page, "positions_t=20")
    expect(clock(page, "clock 0: 3.183 turns").first).to_be_attached()
    eventually(page, lambda: rectangle(frame)["y"] == below)


@pytest.mark.slow
def test_a_link_opens_what_was_chosen_far_down(page):
    visit(page, "/positions?figure=positions_shift")
    page.get_by_role("slider", name=re.compile("Offset")).focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"[?&]positions_offset=6"))
    expect(page.get_by_text("in any dimension")).to_be_attached()  # in a fold

    other = opened_elsewhere(page)
    expect(other.locator(".st-key-positions_shift_matrix")).to_be_attached()
    expect(clock(other, "clock 0: 2.546 turns").first).to_be_attached()  # 16 / 2 pi


def clock(page: Page, name: str) -> Locator:
    """The face of the clock that says of itself where its hand is."""
    return page.locator(f'[aria-label="{name}"]')
