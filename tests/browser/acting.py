"""What a reader does on a page: presses, writes, chooses, and opens a link in another window."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.browser.watching import eventually, ready, rectangle, visit


def mark(page: Page, key: str, name: str) -> Locator:
    """The mark called `name` in the Altair chart in the container with this key."""
    return page.locator(f'.st-key-{key} [aria-label="{name}"]').first


def press(page: Page, target: Locator) -> None:
    """A click in its middle, as the mouse does it: what lies on top, transparent or not, gets it."""
    ready(page)  # or the chart may be replaced under the pointer
    target.scroll_into_view_if_needed()
    target.element_handle().wait_for_element_state("stable")  # what opens moves what stands in it
    box = rectangle(target)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.click(x, y)


def text_box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Text")


def write(page: Page, text: str) -> None:
    """Puts this text into the box of the text and presses Enter."""
    text_box(page).fill(text)
    text_box(page).press("Enter")


def choose(page: Page, label: str, option: str) -> None:
    """Opens the list with this label and chooses the option."""
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def draw_stroke(page: Page) -> None:
    """Draws a line down the middle of the canvas for a digit, and waits for the answer."""
    canvas = page.locator(".st-key-canvas canvas")
    canvas.hover()  # waits until the panel stands still
    box = rectangle(canvas)
    x = box["x"] + box["width"] / 2
    page.mouse.move(x, box["y"] + box["height"] * 0.2)
    page.mouse.down()
    page.mouse.move(x, box["y"] + box["height"] * 0.8, steps=10)
    page.mouse.up()
    expect(page.locator(".answer")).to_be_visible()


def page_link(page: Page, title: str) -> Locator:
    """The link of the navigation to the page with this title."""
    return page.locator(".st-key-navigation").get_by_role("link", name=title, exact=True)


def arrives(page: Page, pattern: str) -> None:
    """Waits until the address has this pattern (a regular expression), and the page is ready."""
    expect(page).to_have_url(re.compile(pattern))
    ready(page)


def opened_elsewhere(page: Page) -> Page:
    """Another window of the same browser, in a session of its own, at the same address."""
    other = page.context.new_page()
    visit(other, page.url)
    return other


def have_the_same_views(other: Page, page: Page) -> None:
    """Waits until addresses and charts of both windows say the same."""
    eventually(other, lambda: _view(other) == _view(page))


def _view(page: Page) -> tuple[dict[str, list[str]], list[str]]:
    """What the address says, and what each Altair chart says of itself: which head, query, input it is of."""
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts.first).to_be_visible()
    labels = [charts.nth(number).get_attribute("aria-label") or "" for number in range(charts.count())]
    return parse_qs(urlsplit(page.url).query), labels
