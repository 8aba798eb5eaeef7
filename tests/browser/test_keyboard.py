"""Heads are stepped through with the arrow keys while their map has the focus; elsewhere the keys stay what they are."""

import re

import pytest
from playwright.sync_api import expect

from app_pages.controls.address import LONGEST
from tests.browser.acting import arrives, mark, press, text_box
from tests.browser.linked_chart import click_head, click_row, point_at_head, tokens, wait_until_told
from tests.browser.watching import visit


def test_arrow_keys_step_through_heads_from_the_overview_beside_the_lines(page):
    visit(page, "/?text=great+film&view=lines")
    press(page, mark(page, "overview", "L1 H1"))
    arrives(page, r"[?&]layer=1")
    for key, choice in (("ArrowRight", "head=2"), ("ArrowDown", "layer=2"), ("ArrowLeft", "head=1")):
        page.keyboard.press(key)
        arrives(page, f"[?&]{choice}")
    page.keyboard.press("ArrowLeft")
    expect(page).not_to_have_url(re.compile(r"[?&]head="))  # 0, as without any choice, leaves the address


@pytest.mark.slow
def test_a_click_on_a_row_of_the_large_map_gives_the_chart_the_focus(page):
    page.goto("/?text=a+great+film&layer=1")
    click_row(page, 2)
    arrives(page, r"[?&]query=2\+great")
    page.keyboard.press("ArrowRight")
    arrives(page, r"[?&]head=1")
    page.get_by_role("heading").first.click()
    page.keyboard.press("ArrowRight")
    page.get_by_role("radio", name="lines").click()
    arrives(page, r"[?&]view=lines")
    expect(page).to_have_url(re.compile(r"[?&]head=1"))  # from the heading no arrow steps


def test_enter_applies_a_text_and_shift_breaks_the_line(page):
    visit(page, "/?text=great+film")
    box = text_box(page)
    box.fill("a great")
    expect(page.get_by_test_id("InputInstructions").first).to_be_visible()
    shown = box.evaluate(
        "box => getComputedStyle(box.closest('.stTextArea').querySelector('[data-testid=InputInstructions] > span'), '::after').content"
    )
    assert "Enter applies" in shown
    box.press("Shift+Enter")
    box.press_sequentially("plot")
    expect(page).to_have_url(re.compile(r"[?&]text=great\+film"))
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]text=a\+great%0Aplot"))
    expect(tokens(page)).to_have_text(["[CLS]", "a", "great", "plot", "[SEP]"])
    expect(box).to_have_value("a great\nplot")


@pytest.mark.slow
def test_enter_that_ends_the_composing_of_a_word_applies_nothing(page):
    visit(page, "/?text=great+film")
    box = text_box(page)
    box.fill("great")
    stopped = box.evaluate(
        """box => !box.dispatchEvent(new KeyboardEvent(
             "keydown", { key: "Enter", keyCode: 229, isComposing: true, bubbles: true, cancelable: true }))"""
    )
    assert not stopped
    box.press_sequentially(" plot")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]text=great\+plot"))


@pytest.mark.slow
def test_enter_breaks_the_line_where_a_text_is_read_by_line(page):
    visit(page, "/inside_a_head?inside=LayerNorm")
    box = page.get_by_role("textbox", name="Vectors, one a line")
    box.fill("1 2 6")
    box.press("Enter")
    box.press_sequentially("3 4 8")
    expect(box).to_have_value("1 2 6\n3 4 8")


@pytest.mark.slow
def test_elsewhere_arrow_keys_scroll(page):
    visit(page, "/?text=great+film", width=1280, height=400)
    main = page.get_by_test_id("stMain")
    main.get_by_role("heading").first.click()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 0")
    expect(page).not_to_have_url(re.compile(r"[?&](layer|head)="))


@pytest.mark.slow
def test_arrow_keys_move_in_a_box_of_text(page):
    visit(page, "/?text=great+film")
    box = text_box(page)
    box.click()
    page.keyboard.press("ArrowRight")
    box.fill("great plot")
    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"[?&]text=great\+plot"))
    # A head that the arrow had chosen would stand there by now.
    expect(page).not_to_have_url(re.compile(r"[?&]head="))


@pytest.mark.slow
def test_arrow_keys_show_the_next_head_though_the_pointer_rests_on_another(page):
    page.goto("/")
    click_head(page, 1, 1)
    arrives(page, r"[?&]layer=1")
    wait_until_told(page, layer=1, head=1, over_layer=1, over_head=1)
    page.keyboard.press("ArrowDown")
    wait_until_told(page, layer=2, head=1, over_layer=None, over_head=None)
    point_at_head(page, 0, 1)
    wait_until_told(page, layer=2, head=1, over_layer=0, over_head=1)


@pytest.mark.slow
def test_of_a_text_that_is_too_long_the_beginning_is_pasted_and_that_is_said(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, "/?text=great+film")
    box = text_box(page)
    box.press("End")
    page.evaluate("navigator.clipboard.writeText(' film'.repeat(1000))")
    page.keyboard.press("Control+V")
    expect(box).to_have_value(("great film" + " film" * 1000)[:LONGEST])
    assert box.evaluate("box => box.validationMessage") == "The text is cut after 3,500 characters."
    page.keyboard.press("Backspace")
    assert box.evaluate("box => box.validationMessage") == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Download the figure: matrix", "View"])
def test_a_menu_takes_the_focus_and_gives_it_back(page, name):
    visit(page, "/")
    opener = page.get_by_role("button", name=name)
    opener.focus()
    page.keyboard.press("Enter")
    menu = page.get_by_test_id("stPopoverBody")
    expect(menu.locator(":focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(opener).to_be_focused()
