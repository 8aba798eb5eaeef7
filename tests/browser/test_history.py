"""One gesture is one step of the browser's history, and Back returns to the view before it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import linked_chart
from tests.browser.acting import arrives, mark, page_link, press, text_box, write
from tests.browser.watching import eventually, ready, visit

STEPS = "history.length"


def test_a_click_that_chooses_layer_and_head_is_one_step_back(page):
    visit(page, "/?text=great+film&layer=1&head=1")
    before = page.evaluate(STEPS)
    linked_chart.click_head(page, 2, 3)
    arrives(page, r"layer=2.*head=3|head=3.*layer=2")
    linked_chart.token(page, 2).click()
    arrives(page, "query=2")
    assert page.evaluate(STEPS) - before == 2
    page.go_back()
    expect(page).not_to_have_url(re.compile("query=2"))
    chosen(page, "2", "3")
    page.go_back()
    chosen(page, "1", "1")
    begin = {"text": ["great film"], "layer": ["1"], "head": ["1"], "query": ["1 great"]}
    begin["coloured_by"] = ["attention"]
    eventually(page, lambda: parse_qs(urlsplit(page.url).query) == begin)


@pytest.mark.slow
def test_back_to_a_text_says_again_what_is_seen_of_a_text(page):
    visit(page, "/?text=great+film")
    linked_chart.token(page, 2).click()
    arrives(page, "query=2")
    line = page.locator(".st-key-heading_line")
    expect(line).to_contain_text("rows are tokens")
    page.get_by_role("radio", name="Digit", exact=True).click()
    expect(line).to_contain_text("rows are patches")
    ready(page)
    page.go_back()
    expect(text_box(page)).to_have_value("great film")
    expect(line).to_contain_text("rows are tokens")


@pytest.mark.slow
def test_back_takes_a_blocked_cell_back(page):
    visit(page, "/masks?text=great+film&masks_kind=Block+pairs")
    press(page, mark(page, "masks_board", "1 great to 2 film"))
    arrives(page, "masks_cells=1-2")
    page.go_back()
    expect(page.locator('.st-key-masks_board [aria-label*=" 0 cells are masked"]')).to_be_attached()
    expect(page).not_to_have_url(re.compile("masks_cells"))


@pytest.mark.slow
def test_a_link_of_the_guide_is_one_step_and_keeps_the_sentence_of_the_reader(page):
    visit(page, "/")
    write(page, "a quiet film")
    arrives(page, "text=a.quiet.film")
    page_link(page, "Start here").click()
    page.get_by_role("radio", name="Lectures", exact=True).click()
    expect(page).to_have_url(re.compile(r"/reading.*reading_text=a.quiet.film"))
    expect(page.get_by_role("link", name="Step by step", exact=True)).to_be_visible()
    ready(page)
    before = page.evaluate(STEPS)
    for name in ("The words in another order", "Step by step"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile("/positions|/inside_a_head"))
        expect(text_box(page)).to_have_value("a quiet film")
        ready(page)
        assert page.evaluate(STEPS) == before + 1
        page.go_back()
        expect(page).to_have_url(re.compile("/reading"))
        expect(page.get_by_role("link", name="Step by step", exact=True)).to_be_visible()
        ready(page)


@pytest.mark.slow
def test_a_link_wins_over_what_was_chosen_before_even_where_it_is_what_stands_there_at_first(page):
    visit(page, "/training?training=Training+history&kind=Digit")
    page_link(page, "Norm placement").click()
    link = page.locator(".st-key-claims a[href*='training=Recording']")
    expect(link).to_be_visible()
    ready(page)
    link.click()
    expect(page.get_by_role("radio", name="Recording", exact=True)).to_be_checked()


def chosen(page: Page, layer: str, head: str) -> None:
    expect(page.get_by_role("combobox", name="Layer")).to_have_value(layer)
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(head)
    ready(page)
