"""A page for an audience: its figure has the window, in large letters, and answers the pointer and the keys."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from app_pages.controls.pages import PRESENTED
from tests.browser.linked_chart import told, wait_until_told
from tests.browser.test_first_screen import bottom, top
from tests.browser.watching import eventually, rectangle, visit

FIGURES = {
    "attention": ".st-key-all_heads_chart",
    "compare": ".st-key-heads_first_chart",
    "heads": ".st-key-heads_table",
    "inside_a_head": ".st-key-inside_diagram",
    "many_inputs": ".st-key-many_table_place",
    "training": ".st-key-film_and_player",
}
# Sizes of letters as they are seen: an SVG may be magnified.
LETTERS = """figure => [...figure.querySelectorAll("text, p, span, td, button")]
    .filter(element => element.checkVisibility() && element.textContent.trim() && !element.querySelector("*"))
    .map(element => parseFloat(getComputedStyle(element).fontSize) * (element.currentCSSZoom ?? 1))"""


def presented(page: Page, name: str, width: int = 1280, height: int = 800, kind: str = "Text") -> Locator:
    page.set_viewport_size({"width": width, "height": height})
    visit(page, f"/{'' if name == 'attention' else name}?present=1&kind={kind}")
    return page.locator(FIGURES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_has_the_window(page, name):
    figure = presented(page, name)
    expect(page.get_by_role("button", name="Back to the page")).to_be_visible()
    for hidden in (
        ".st-key-navigation",
        "[class*=st-key-input_]",
        "h1",
        "[class*=st-key-bar_]",
        ".st-key-parts",
    ):
        expect(page.locator(hidden).filter(visible=True)).to_have_count(0)
    eventually(page, lambda: top(figure) < 240 and bottom(figure) <= 800)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "width", "height"), [("Text", 800, 600), ("Digit", 1280, 800), ("Text", 1920, 1080)]
)
def test_on_attention_nothing_stands_above_the_chart(page, kind, width, height):
    figure = presented(page, "attention", width, height, kind=kind)
    tokens = page.locator(".st-key-all_heads_tokens .tokens")
    eventually(page, lambda: top(figure) <= 0.015 * height and bottom(figure) <= height)
    eventually(page, lambda: top(tokens) > (top(figure) + bottom(figure)) / 2)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "least"), [(1280, 800, 14), (1920, 1080, 20)])
def test_letters_can_be_read_from_the_last_row(page, width, height, least):
    letters = presented(page, "inside_a_head", width, height).evaluate(LETTERS)
    letters += presented(page, "attention", width, height).evaluate(LETTERS)
    assert len(letters) > 40
    assert min(letters) >= least


@pytest.mark.slow
def test_titles_that_a_figure_needs_are_whole(page):
    visit(page, "/norm_placement?present=1")
    for placement in ("pre-LN", "post-LN"):
        expect(page.locator("[class*=st-key-norm_block_]").get_by_text(placement, exact=True)).to_be_visible()
    presented(page, "inside_a_head")
    titles = page.locator("thead tr:first-child th").filter(has_text="by component")
    expect(titles).to_have_count(2)
    are_whole = "cells => cells.every(cell => cell.scrollWidth <= cell.clientWidth)"
    eventually(page, lambda: titles.evaluate_all(are_whole))


@pytest.mark.slow
def test_many_inputs_are_whole_sentences(page):
    presented(page, "many_inputs")
    for beginning in ("What a brilliant idea", "The cast is wonderful"):
        sentence = page.locator(".st-key-many_table_place .input span").filter(has_text=beginning).first
        assert sentence.evaluate("span => span.scrollHeight <= span.clientHeight + 1")


@pytest.mark.slow
def test_the_enlarged_chart_answers_pointer_and_keys(page):
    figure = presented(page, "attention", 1920, 1080)
    head, layer = (figure.get_by_text(name, exact=True) for name in ("H2", "L1"))

    def points_at_the_head() -> bool:
        across, down = rectangle(head), rectangle(layer)
        page.mouse.move(across["x"] + across["width"] / 2, down["y"] + down["height"] / 2)
        values = told(page)
        return (values.get("over_layer"), values.get("over_head")) == (1, 2)

    eventually(page, points_at_the_head)
    page.mouse.move(2, 2)
    figure.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    wait_until_told(page, layer=1, head=1)
    expect(page).to_have_url(re.compile("present=1.*layer=1|layer=1.*present=1"))
    assert told(page)["query"] >= 0


def test_the_button_and_escape_lead_there_and_back(page):
    visit(page, "/?text=a+great+film")
    page.get_by_role("button", name="Present").click()
    expect(page).to_have_url(re.compile("present=1"))
    expect(page.locator(".st-key-navigation")).to_be_hidden()
    expect(page.get_by_role("button", name="Back to the page")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("present"))
    expect(page.locator(".st-key-navigation")).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_have_value("a great film")
    page.get_by_role("button", name="Present").click()
    page.get_by_role("button", name="Back to the page").click()
    expect(page).not_to_have_url(re.compile("present"))


def test_pages_with_a_figure_offer_it():
    assert set(FIGURES) | {"masks", "positions"} <= {page.name for page in PRESENTED}


@pytest.mark.slow
@pytest.mark.parametrize(
    "address", ["masks?masks_part=Ways+of+masking", "positions?positions=By+distance&positions_kind=window"]
)
def test_a_tab_without_a_figure_shows_its_table(page, address):
    visit(page, f"/{address}&present=1")
    table = page.get_by_role("table").filter(visible=True).first
    expect(table).to_be_visible()
    eventually(page, lambda: top(table) < 100 and bottom(table) > top(table) + 200)


@pytest.mark.slow
def test_by_keyboard_presenting_passes_the_focus_on_and_back(page):
    visit(page, "/")
    page.get_by_role("button", name="Present", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Back to the page")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()
