"""What was chosen by typing, clicking and drawing is in the address: a link opens the same view."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import linked_chart
from tests.browser.linked_chart import token, wait_until_told
from tests.browser.watching import eventually, ready


@pytest.mark.slow
def test_a_text(page):
    page.goto("/")
    ready(page)
    box = page.get_by_role("textbox", name="Text")
    box.fill("it is not a bad film")
    box.press("Control+Enter")
    expect(token(page, 5)).to_have_text("bad")  # a word that the text before did not have
    linked_chart.click_head(page, 2, 1)
    expect(page).to_have_url(re.compile(r"[?&]layer=2&.*head=1|[?&]head=1&.*layer=2"))
    token(page, 6).click()
    expect(page).to_have_url(re.compile(r"[?&]query=6\+film"))
    ready(page)

    other = opened_elsewhere(page)
    expect(other.get_by_role("textbox", name="Text")).to_have_value("it is not a bad film")
    shows_the_same(other, page, layer=2, head=1, query=6)


@pytest.mark.slow
def test_what_is_chosen_goes_along_to_other_pages_and_into_their_addresses(page):
    page.goto("/?kind=Digit&source=Draw&drawing=eNr7_4EBCfwfUN5IBgDTFhNX&layer=2&scale=to+own+maximum")
    ready(page)
    chosen = parse_qs(urlsplit(page.url).query)
    del chosen["coloured_by"]  # of Attention alone
    for name, folder in (("Masks", "masks"), ("Side by side", "compare"), ("Attention", "")):
        page.locator(".st-key-navigation").get_by_role("link", name=name, exact=True).click()
        expect(page.locator(".st-key-here", has_text=name)).to_be_visible()  # the last page's mark goes later
        expect(page).to_have_url(re.compile(f"/{folder}[?].*drawing="))
        ready(page)
        eventually(page, lambda: parse_qs(urlsplit(page.url).query).items() >= chosen.items())


@pytest.mark.slow
def test_a_word_stays_chosen_in_another_text(page):
    page.goto("/?text=a+good+film")
    ready(page)
    token(page, 3).click()  # another one than what is chosen at first
    expect(page).to_have_url(re.compile(r"[?&]query=3\+film"))
    box = page.get_by_role("textbox", name="Text")
    box.fill("a film that is good")
    box.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"[?&]query=2\+film"))
    linked_chart.click_head(page, 2, 1)
    expect(page).to_have_url(re.compile(r"[?&]layer=2"))
    ready(page)
    assert parse_qs(urlsplit(page.url).query)["query"] == ["2 film"]


@pytest.mark.slow
def test_the_first_view_and_what_colours_its_words_are_in_the_address(page):
    page.goto("/?text=a+dull+film")
    expect(page).to_have_url(re.compile(r"[?&]query=2\+dull&coloured_by=attention$"))
    ready(page)
    colouring = page.get_by_role("button", name="what the answer hangs on", exact=True)
    colouring.click()
    expect(page).to_have_url(re.compile("coloured_by=answer"))
    ready(page)
    page.reload()
    expect(colouring).to_have_attribute("aria-pressed", "true")
    ready(page)
    page.go_back()
    expect(colouring).to_have_attribute("aria-pressed", "false")


@pytest.mark.slow
def test_a_test_digit(page):
    page.goto("/?kind=Digit")
    ready(page)
    page.get_by_role("button", name="Choose or draw").click()
    press(page, page.locator(".st-key-gallery [role=graphics-symbol]").nth(5))
    expect(page).to_have_url(re.compile(r"[?&]digit=\d"))
    page.keyboard.press("Escape")
    linked_chart.click_head(page, 3, 2)
    expect(page).to_have_url(re.compile(r"[?&]layer=3"))
    linked_chart.click_row(page, 22)
    expect(page).to_have_url(re.compile(r"[?&]query=r3c0"))
    ready(page)

    other = opened_elsewhere(page)
    shows_the_same(other, page, layer=3, head=2, query=22)


@pytest.mark.slow
def test_a_drawn_digit(page):
    page.goto("/?kind=Digit&source=Draw")
    ready(page)
    page.get_by_role("button", name="Choose or draw").click()
    canvas = page.locator(".st-key-canvas canvas")
    canvas.hover()  # waits until the popover stands still
    box = canvas.bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + box["height"] * 0.15)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] * 0.85, steps=10)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"[?&]drawing="))
    expect(page.locator(".answer")).to_be_visible()
    page.keyboard.press("Escape")
    linked_chart.click_head(page, 1, 1)
    expect(page).to_have_url(re.compile(r"[?&]layer=1"))
    ready(page)

    other = opened_elsewhere(page)
    shows_the_same(other, page, layer=1, head=1)
    for window in (page, other):
        window.get_by_role("button", name="Choose or draw").click()
    eventually(other, lambda: ink(other) == ink(page))


def opened_elsewhere(page: Page) -> Page:
    """Another window of the same browser, in a session of its own."""
    other = page.context.new_page()
    other.goto(page.url)
    ready(other)
    return other


def shows_the_same(other: Page, page: Page, **chosen: int) -> None:
    """Checks that the linked charts of both windows are of the same weights, and of the chosen head and query."""
    page.mouse.move(2, 2)  # nothing is pointed at
    stamp = linked_chart.told(page)["stamp"]
    for window in (page, other):
        wait_until_told(window, stamp=stamp, over_layer=None, over_query=None, **chosen)
    have_the_same_views(other, page)


def mark(page: Page, key: str, name: str) -> Locator:
    """The mark called `name` in the Altair chart in the place called `key`."""
    return page.locator(f'.st-key-{key} [aria-label="{name}"]').first


def press(page: Page, target: Locator) -> None:
    """A click in its middle, as the mouse does it: what lies on top, transparent or not, gets it."""
    ready(page)  # or the chart may be replaced under the pointer
    target.scroll_into_view_if_needed()
    target.element_handle().wait_for_element_state("stable")  # what opens moves what stands in it
    box = target.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def have_the_same_views(other: Page, page: Page) -> None:
    """Waits until addresses and charts of both windows say the same."""
    eventually(other, lambda: views(other) == views(page))


def views(page: Page) -> tuple[dict, list[str]]:
    """What the address says, and what each Altair chart says of itself: which head, query, input it is of."""
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts.first).to_be_visible()
    labels = [charts.nth(number).get_attribute("aria-label") or "" for number in range(charts.count())]
    return parse_qs(urlsplit(page.url).query), labels


def ink(page: Page) -> list[int]:
    """The pixels of the drawing."""
    script = "canvas => Array.from(canvas.getContext('2d').getImageData(0, 0, 28, 28).data)"
    return page.locator(".st-key-canvas canvas").evaluate(script)
