"""Nothing jumps while somebody uses a page: `python -m benchmarks.layout_shift` prints the same numbers as a table."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import write
from tests.browser.layout_shift_recorder import GESTURES
from tests.browser.linked_chart import canvas
from tests.browser.watching import rectangle, visit

pytestmark = pytest.mark.slow

SHIFT = 0.05  # half of what is said to be good
PIXELS = 3  # Chromium does not count less either
SHARE = 0.05


@pytest.mark.parametrize("gesture", GESTURES.values(), ids=GESTURES)
def test_a_gesture_moves_nothing(page, gesture):
    movement = gesture.measure(page)
    for _ in range(
        2
    ):  # a busy machine paints pages that are half drawn; what moves on an idle one moves each time
        if movement.shift > SHIFT:
            with page.context.new_page() as another:
                movement = min(movement, gesture.measure(another), key=lambda one: one.shift)
    assert movement.shift <= SHIFT, movement.where
    assert movement.moved <= PIXELS
    assert movement.lost <= SHARE


def test_a_figure_that_goes_for_good_leaves_nothing_behind(page):
    visit(page, "/?text=a+great+film&view=lines")
    expect(page.locator(".st-key-lines svg.marks")).to_be_visible()
    page.get_by_role("radio", name="matrix").click()
    expect(canvas(page)).to_be_visible()
    expect(page.locator(".kept-figure")).to_have_count(0)
    expect(page.locator(".st-key-lines")).to_have_count(0)


def test_a_figure_that_becomes_lower_gives_its_room_back(page):
    visit(page, "/?view=lines&text=" + "a+great+film+" * 8)
    lines = page.locator(".st-key-lines")
    expect(lines.locator("svg.marks")).to_be_visible()
    before = rectangle(lines)["height"]
    write(page, "a film")
    expect(page).to_have_url(re.compile(r"[?&]text=a\+film(&|$)"))
    page.wait_for_function(f"document.querySelector('.st-key-lines').clientHeight < {before}")
    expect(page.locator(".kept-figure")).to_have_count(0)


def test_what_is_said_while_a_map_is_checked_moves_nothing(page):
    visit(page, "/?kind=Digit")
    sign, chart = page.locator(".st-key-explains"), canvas(page)
    before = sign.bounding_box(), chart.bounding_box()
    page.locator(".st-key-faithfulness_line").evaluate(
        "line => line.insertAdjacentHTML('beforeend', '<div style=\"width: 400px; height: 90px\">…</div>')"
    )
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert (sign.bounding_box(), chart.bounding_box()) == before
