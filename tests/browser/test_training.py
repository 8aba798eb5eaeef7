"""The recording of a training run plays in the browser, and the server hears only where it stops."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watching import ready

# Messages to the server are counted, and those that are sent while the recording plays.
WATCH = """
    window.sent = [];
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...message) {
        sent.push(document.head.value?.moment);
        return send.apply(this, message);
    };
"""


def test_the_film_plays_pauses_and_is_scrubbed(page: Page) -> None:
    page.add_init_script(WATCH)
    page.goto("/training?kind=Digit")
    ready(page)
    slider = page.get_by_role("slider", name="Recorded moment")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("step 0 of 12,320, phase: digits"))
    chart = page.get_by_test_id("stVegaLiteChart").first.locator("canvas")
    expect(chart).to_be_visible()
    before = chart.screenshot()
    page.evaluate("sent.length = 0")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_text("moment 53 of 53")).to_be_visible()  # at the end it stops by itself
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]moment=52(&|$)"))
    assert set(page.evaluate("sent")) <= {52}  # nothing on the way
    assert chart.screenshot() != before

    slider.press("Home")
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^step [1-9]\d* of 12,320"))
    expect(page).to_have_url(re.compile(r"[?&]moment=1(&|$)"))
    page.get_by_role("button", name="Play").dblclick()  # once more before its end: it pauses
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    ready(page)

    box = slider.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("moment 27 of 53")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]moment=26(&|$)"))
    page.reload()
    ready(page)
    expect(page.get_by_text("moment 27 of 53")).to_be_visible()


@pytest.mark.slow
def test_with_less_motion_a_press_is_a_step(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto("/training?kind=Digit&moment=5")
    ready(page)
    slider = page.get_by_role("slider", name="Recorded moment")
    slider.press("p")  # two moments a press: no more than 50 go through all
    slider.press("ArrowRight")
    expect(page.get_by_text("moment 9 of 53")).to_be_visible()
    page.get_by_role("button", name="Play a step").click()
    expect(page.get_by_text("moment 11 of 53")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]moment=10(&|$)"))
