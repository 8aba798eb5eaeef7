"""What was chosen by typing, clicking and drawing is in the address: a link opens the same view, also of a lens."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import linked_chart
from tests.browser.acting import (
    arrives,
    draw_stroke,
    have_the_same_views,
    opened_elsewhere,
    page_link,
    press,
    text_box,
    write,
)
from tests.browser.linked_chart import token, wait_until_told
from tests.browser.watching import eventually, ready, visit

pytestmark = pytest.mark.slow


def test_a_text(page):
    visit(page, "/")
    write(page, "it is not a bad film")
    expect(token(page, 5)).to_have_text("bad")  # a word that the text before did not have
    linked_chart.click_head(page, 2, 1)
    expect(page).to_have_url(re.compile(r"[?&]layer=2&.*head=1|[?&]head=1&.*layer=2"))
    token(page, 6).click()
    arrives(page, r"[?&]query=6\+film")

    other = opened_elsewhere(page)
    expect(text_box(other)).to_have_value("it is not a bad film")
    shows_the_same(other, page, layer=2, head=1, query=6)


def test_what_is_chosen_goes_along_to_other_pages_and_into_their_addresses(page):
    visit(page, "/?kind=Digit&source=Draw&drawing=eNr7_4EBCfwfUN5IBgDTFhNX&layer=2&scale=to+own+maximum")
    chosen = parse_qs(urlsplit(page.url).query)
    del chosen["coloured_by"]  # of Attention alone
    for name, folder in (("Masks", "masks"), ("Side by side", "compare"), ("Attention", "")):
        page_link(page, name).click()
        expect(page.locator(".st-key-here", has_text=name)).to_be_visible()  # the last page's mark goes later
        arrives(page, f"/{folder}[?].*drawing=")
        eventually(page, lambda: parse_qs(urlsplit(page.url).query).items() >= chosen.items())


def test_a_word_stays_chosen_in_another_text(page):
    visit(page, "/?text=a+good+film")
    token(page, 3).click()  # another one than what is chosen at first
    expect(page).to_have_url(re.compile(r"[?&]query=3\+film"))
    write(page, "a film that is good")
    expect(page).to_have_url(re.compile(r"[?&]query=2\+film"))
    linked_chart.click_head(page, 2, 1)
    arrives(page, r"[?&]layer=2")
    assert parse_qs(urlsplit(page.url).query)["query"] == ["2 film"]


def test_the_first_view_and_what_colours_its_words_are_in_the_address(page):
    page.goto("/?text=a+dull+film")
    arrives(page, r"[?&]query=2\+dull&coloured_by=attention$")
    colouring = page.get_by_role("button", name="what the answer hangs on", exact=True)
    colouring.click()
    arrives(page, "coloured_by=answer")
    page.reload()
    expect(colouring).to_have_attribute("aria-pressed", "true")
    ready(page)
    page.go_back()
    expect(colouring).to_have_attribute("aria-pressed", "false")


def test_a_test_digit(page):
    visit(page, "/?kind=Digit")
    page.get_by_role("button", name="Choose or draw").click()
    press(page, page.locator(".st-key-gallery [role=graphics-symbol]").nth(5))
    expect(page).to_have_url(re.compile(r"[?&]digit=\d"))
    page.keyboard.press("Escape")
    linked_chart.click_head(page, 3, 2)
    expect(page).to_have_url(re.compile(r"[?&]layer=3"))
    linked_chart.click_row(page, 22)
    arrives(page, r"[?&]query=r3c0")

    other = opened_elsewhere(page)
    shows_the_same(other, page, layer=3, head=2, query=22)


def test_a_drawn_digit(page):
    visit(page, "/?kind=Digit&source=Draw")
    page.get_by_role("button", name="Choose or draw").click()
    draw_stroke(page)
    expect(page).to_have_url(re.compile(r"[?&]drawing="))
    page.keyboard.press("Escape")
    linked_chart.click_head(page, 1, 1)
    arrives(page, r"[?&]layer=1")

    other = opened_elsewhere(page)
    shows_the_same(other, page, layer=1, head=1)
    for window in (page, other):
        window.get_by_role("button", name="Choose or draw").click()
    eventually(other, lambda: ink(other) == ink(page))


def test_a_lens_is_chosen_linked_and_kept_on_side_by_side(page):
    visit(page, "/?text=great+film&head=2")
    page.locator(".st-key-lens input").click()
    page.get_by_role("option", name="value zeroing", exact=True).click()
    arrives(page, r"[?&]lens=value\+zeroing")
    linked_chart.click_head(page, 2, 0)
    arrives(page, r"[?&]layer=2")
    page.keyboard.press("ArrowRight")  # there are no heads to step through
    ready(page)
    page.keyboard.press("ArrowDown")
    arrives(page, r"[?&]layer=3")
    page.get_by_role("link", name="Side by side").click()
    ready(page)
    expect(page.get_by_text("one map a layer, paired by number")).to_be_visible()
    for side in ("first", "second"):
        linked_chart.wait_until_told(page, f"heads_{side}", layer=3)
    ready(page)  # a run that goes on would close the list
    page.get_by_role("button", name="View").click()
    page.locator(".st-key-lens input").click()
    page.get_by_role("option", name="attention", exact=True).click()
    expect(page).to_have_url(re.compile(r"[?&]head=2"))  # the head that was chosen before


def test_a_link_restores_the_lens_and_the_class(page):
    visit(page, "/?text=great+film&lens=gradient+×+attention&lens_class=negative&layer=3")
    expect(page.locator(".st-key-lens input")).to_have_value("gradient × attention")
    expect(page.locator(".st-key-lens_class input")).to_have_value("negative")
    note = "lens: gradient × attention, of the class negative"
    expect(page.get_by_test_id("stCaptionContainer").get_by_text(note)).to_be_visible()


def shows_the_same(other: Page, page: Page, **chosen: int) -> None:
    """Checks that the linked charts of both windows are of the same weights, and of the chosen head and query."""
    page.mouse.move(2, 2)  # nothing is pointed at
    stamp = linked_chart.told(page)["stamp"]
    for window in (page, other):
        wait_until_told(window, stamp=stamp, over_layer=None, over_query=None, **chosen)
    have_the_same_views(other, page)


def ink(page: Page) -> list[int]:
    """The pixels of the drawing."""
    script = "canvas => Array.from(canvas.getContext('2d').getImageData(0, 0, 28, 28).data)"
    return page.locator(".st-key-canvas canvas").evaluate(script)
