"""The table of heads: sorted, walked through with the keyboard, a head chosen and opened; a point chosen in the scatter."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import mark, press
from tests.browser.conftest import new_context
from tests.browser.watching import ready, visit


@pytest.mark.slow
def test_a_head_is_found_in_the_table_and_opened(page):
    visit(page, "/heads?text=The+film+is+not+bad+at+all.&checkpoint=imdb-pre-ln")
    table = page.locator(".st-key-heads_table")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(16)
    table.get_by_role("button", name="entropy", exact=True).click()
    expect(page).to_have_url(re.compile("heads_sort=-entropy"))
    sorted_by = table.get_by_role("columnheader", name="entropy ↓")
    expect(sorted_by).to_have_attribute("aria-sort", "descending")
    ready(page)  # or the rows are drawn once more, without the focus
    names = [row.split()[0:2] for row in rows.locator("th").all_inner_texts()]
    assert sorted(names) != names
    rows.nth(0).get_by_role("button").focus()
    page.keyboard.press("Tab")
    expect(rows.locator("button:focus")).to_have_count(0)  # all rows are one stop
    rows.nth(0).get_by_role("button").focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1).get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    name = rows.nth(1).get_by_role("button").inner_text()
    expect(table.locator("tr[aria-current]")).to_contain_text(name)
    expect(page.locator(".st-key-head_line")).to_contain_text(name)
    layer, head = re.findall(r"\d+", name)
    page.get_by_role("button", name="Open in Attention").click()
    expect(table).to_have_count(0)  # both pages have these controls
    ready(page)
    expect(page.get_by_role("combobox", name="Layer")).to_have_value(layer)
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(head)


def test_a_click_on_a_row_or_a_point_chooses_the_head(page):
    visit(page, "/heads?text=The+film+is+not+bad+at+all.&checkpoint=imdb-pre-ln")
    rows = page.locator(".st-key-heads_table tbody tr")
    rows.nth(5).locator("td").nth(3).click()
    expect(page).to_have_url(re.compile("layer=1&head=1"))
    page.get_by_text("Scatter", exact=True).click()
    press(page, mark(page, "heads_plot", "L2 H3"))
    expect(page.locator(".st-key-head_line")).to_contain_text("L2 H3")


@pytest.mark.slow
def test_all_heads_and_their_columns_are_in_sight_and_say_what_they_are(page):
    visit(page, "/heads?checkpoint=imdb-pre-ln&text=The+film+is+not+bad+at+all.", width=1280)
    table = page.locator(".st-key-heads_table")
    titles = [
        "head",
        "role",
        "relation",
        "entropy0 to 1",
        "distancetokens",
        "importancenats",
        "zeroedthe answer, nats",
    ]
    expect(table.get_by_role("columnheader")).to_have_text(titles)
    for name in ("L0 H0", "L3 H3"):
        expect(table.get_by_role("rowheader", name=name)).to_be_in_viewport(ratio=1)
    tip = table.get_by_role("tooltip")
    table.get_by_role("columnheader", name="role").hover()
    expect(tip).to_have_text(re.compile("^What the head is called"))
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    # All headings are one stop of the keyboard; the arrows go on, also over those that do not sort.
    page.get_by_role("button", name="View").focus()
    page.keyboard.press("Tab")
    expect(table.get_by_role("button", name="head", exact=True)).to_be_focused()
    expect(tip).to_have_text(re.compile("^Layer and head"))
    page.keyboard.press("ArrowRight")
    expect(tip).to_have_text(re.compile("^What the head is called"))
    page.keyboard.press("End")
    expect(tip).to_have_text(re.compile("the head's output. Click to sort.$"))
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Tab")  # to the rows, whose roles are said with their rules
    expect(tip).to_have_text(re.compile("head: at least half of its weight"))


@pytest.mark.slow
def test_a_touch_shows_what_a_column_is(app, browser):
    with new_context(browser, app, has_touch=True) as touched:
        page = touched.new_page()
        visit(page, "/heads?checkpoint=imdb-pre-ln&text=The+film+is+not+bad+at+all.")
        table = page.locator(".st-key-heads_table")
        table.get_by_role("button", name="zeroed").tap()
        expect(table.get_by_role("columnheader", name="zeroed ↓")).to_be_visible()
        expect(table.get_by_role("tooltip")).to_have_text(re.compile("the head's output"))
        page.locator("h1").tap()
        expect(table.get_by_role("tooltip")).to_be_hidden()
