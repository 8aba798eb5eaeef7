"""The recording of a training run plays in the browser, and the server hears only where it stops."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.watching import eventually, ready, rectangle, visit

# Messages to the server are counted, and those that are sent while the recording plays.
WATCH = """
    window.sent = [];
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...message) {
        sent.push(document.head.value?.moment);
        return send.apply(this, message);
    };
"""


def test_the_film_plays_pauses_and_is_scrubbed(page):
    page.add_init_script(WATCH)
    visit(page, "/training?kind=Digit")
    slider = page.get_by_role("slider", name="Recorded moment")
    # It opens with the trained encoder, and plays from the start.
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^step 12,319 of 12,320"))
    chart = page.get_by_test_id("stVegaLiteChart").first.locator("canvas")
    expect(chart).to_be_visible()
    page.evaluate("""() => {
        window.played = [];
        document.head.addEventListener("loupe-recording", () => played.push(document.head.value.moment));
        sent.length = 0;
    }""")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("played.at(-1) === 52")
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # at the end it stops by itself
    played = page.evaluate("played")
    assert played == sorted(played)
    assert (played[0], played[-1]) == (0, 52)
    assert set(page.evaluate("sent")) <= {52}  # nothing on the way

    trained = chart.screenshot()
    slider.press("Home")
    expect(page).to_have_url(re.compile(r"[?&]moment=0(&|$)"))
    eventually(page, lambda: chart.screenshot() != trained)
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^step [1-9]\d* of 12,320"))
    expect(page).to_have_url(re.compile(r"[?&]moment=1(&|$)"))
    page.get_by_role("button", name="Play").dblclick()  # once more before its end: it pauses
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    ready(page)

    box = rectangle(slider)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_text("moment 27 of 53")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]moment=26(&|$)"))
    page.reload()
    ready(page)
    expect(page.get_by_text("moment 27 of 53")).to_be_visible()


@pytest.mark.slow
def test_with_less_motion_a_press_is_a_step(page):
    page.emulate_media(reduced_motion="reduce")
    visit(page, "/training?kind=Digit&moment=5")
    slider = page.get_by_role("slider", name="Recorded moment")
    slider.press("p")  # two moments a press: no more than 50 go through all
    slider.press("ArrowRight")
    expect(page.get_by_text("moment 9 of 53")).to_be_visible()
    page.get_by_role("button", name="Play a step").click()
    expect(page.get_by_text("moment 11 of 53")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]moment=10(&|$)"))
