"""A page for an audience: its figure has the window, in large letters, and answers the pointer and the keys."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from app_pages.controls.pages import PRESENTED
from tests.browser.linked import told, wait_until_told
from tests.browser.watching import ready

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
    page.goto(f"/{'' if name == 'attention' else name}?present=1&kind={kind}")
    ready(page)
    return page.locator(FIGURES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_has_the_window(page: Page, name: str) -> None:
    figure = presented(page, name)
    expect(page.get_by_role("button", name="Back to the page")).to_be_visible()
    for hidden in (
        ".st-key-navigation",
        "[class*=st-key-input_]",
        "h1",
        "[class*=st-key-bar_]",
        "[class*=st-key-parts_]",
    ):
        expect(page.locator(hidden).filter(visible=True)).to_have_count(0)
    box = figure.bounding_box()
    assert box is not None
    assert box["y"] < 240
    assert box["y"] + box["height"] <= 800


@pytest.mark.parametrize(
    ("kind", "width", "height"), [("Text", 800, 600), ("Digit", 1280, 800), ("Text", 1920, 1080)]
)
def test_on_attention_nothing_stands_above_the_chart(page: Page, kind: str, width: int, height: int) -> None:
    figure = presented(page, "attention", width, height, kind=kind)
    box, tokens = figure.bounding_box(), page.locator(".st-key-all_heads_tokens .tokens").bounding_box()
    assert box is not None
    assert tokens is not None
    assert box["y"] <= 0.015 * height
    assert box["y"] + box["height"] <= height
    assert tokens["y"] > box["y"] + box["height"] / 2


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "least"), [(1280, 800, 14), (1920, 1080, 20)])
def test_letters_can_be_read_from_the_last_row(page: Page, width: int, height: int, least: int) -> None:
    letters = presented(page, "inside_a_head", width, height).evaluate(LETTERS)
    letters += presented(page, "attention", width, height).evaluate(LETTERS)
    assert len(letters) > 40
    assert min(letters) >= least


@pytest.mark.slow
def test_titles_that_a_figure_needs_are_whole(page: Page) -> None:
    page.goto("/norm_placement?present=1")
    ready(page)
    for placement in ("pre-LN", "post-LN"):
        expect(page.locator("[class*=st-key-norm_block_]").get_by_text(placement, exact=True)).to_be_visible()
    presented(page, "inside_a_head")
    titles = page.locator("thead tr:first-child th").filter(has_text="by component")
    expect(titles).to_have_count(2)
    assert titles.evaluate_all("cells => cells.every(cell => cell.scrollWidth <= cell.clientWidth)")


@pytest.mark.slow
def test_many_inputs_are_whole_sentences(page: Page) -> None:
    presented(page, "many_inputs")
    for beginning in ("What a brilliant idea", "The cast is wonderful"):
        sentence = page.locator(".st-key-many_table_place .input span").filter(has_text=beginning).first
        assert sentence.evaluate("span => span.scrollHeight <= span.clientHeight + 1")


def test_the_enlarged_chart_answers_pointer_and_keys(page: Page) -> None:
    figure = presented(page, "attention", 1920, 1080)
    head = figure.get_by_text("H2", exact=True).bounding_box()
    layer = figure.get_by_text("L1", exact=True).bounding_box()
    assert head is not None
    assert layer is not None
    page.mouse.move(head["x"] + head["width"] / 2, layer["y"] + layer["height"] / 2)
    wait_until_told(page, over_layer=1, over_head=2)
    page.mouse.move(2, 2)
    figure.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    wait_until_told(page, layer=1, head=1)
    expect(page).to_have_url(re.compile("present=1.*layer=1|layer=1.*present=1"))
    assert told(page)["query"] >= 0


def test_the_button_and_escape_lead_there_and_back(page: Page) -> None:
    page.goto("/?text=a+great+film")
    ready(page)
    page.get_by_role("button", name="Present").click()
    expect(page).to_have_url(re.compile("present=1"))
    expect(page.locator(".st-key-navigation")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("present"))
    expect(page.locator(".st-key-navigation")).to_be_visible()
    expect(page.get_by_label("Text", exact=True)).to_have_value("a great film")
    page.get_by_role("button", name="Present").click()
    page.get_by_role("button", name="Back to the page").click()
    expect(page).not_to_have_url(re.compile("present"))


def test_pages_with_a_figure_offer_it() -> None:
    assert set(FIGURES) | {"masks", "positions"} <= {page.name for page in PRESENTED}


@pytest.mark.parametrize(
    "address", ["masks?masks_part=Ways+of+masking", "positions?positions=By+distance&positions_kind=windowed"]
)
def test_a_tab_without_a_figure_shows_its_table(page: Page, address: str) -> None:
    page.goto(f"/{address}&present=1")
    ready(page)
    table = page.get_by_role("table").filter(visible=True).first
    expect(table).to_be_visible()
    box = table.bounding_box()
    assert box is not None
    assert box["y"] < 100
    assert box["height"] > 200


def test_by_keyboard_presenting_passes_the_focus_on_and_back(page: Page) -> None:
    page.goto("/")
    ready(page)
    page.get_by_role("button", name="Present", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Back to the page")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()
