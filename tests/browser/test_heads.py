"""The table of heads: sorted, walked through with the keyboard, a head chosen and opened; a point chosen in the scatter."""

import re

from playwright.sync_api import Page, expect

from tests.browser.watching import ready


def test_a_head_is_found_in_the_table_and_opened(page: Page) -> None:
    page.goto("/heads?text=The+film+is+not+bad+at+all.&checkpoint=imdb-pre-ln")
    ready(page)
    table = page.locator(".st-key-heads_table")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(16)
    table.get_by_role("button", name="next", exact=True).click()
    expect(page).to_have_url(re.compile("heads_sort=-next"))
    sorted_by = table.get_by_role("columnheader", name="next ↓")
    expect(sorted_by).to_have_attribute("aria-sort", "descending")
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
    ready(page)
    expect(page.get_by_role("combobox", name="Layer")).to_have_value(layer)
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(head)


def test_a_click_on_a_row_or_a_point_chooses_the_head(page: Page) -> None:
    page.goto("/heads?text=The+film+is+not+bad+at+all.&checkpoint=imdb-pre-ln")
    ready(page)
    rows = page.locator(".st-key-heads_table tbody tr")
    rows.nth(5).locator("td").nth(3).click()
    expect(page).to_have_url(re.compile("layer=1&head=1"))
    page.get_by_role("radio", name="Scatter").click()
    points = page.locator(".st-key-heads_scatter [aria-label='L2 H3']")
    points.first.click()
    expect(page.locator(".st-key-head_line")).to_contain_text("L2 H3")
