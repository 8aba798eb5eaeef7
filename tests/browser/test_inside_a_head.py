"""The steps of a block: chosen in its diagram, and the table of keys, followed by a click on a row."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import have_the_same_views, mark, opened_elsewhere, press
from tests.browser.watching import visit


@pytest.mark.parametrize(
    ("kind", "color_scheme"), [("Text", "light"), pytest.param("Digit", "dark", marks=pytest.mark.slow)]
)
def test_from_the_diagram_to_a_key(page, kind, color_scheme):  # noqa: ARG001
    visit(page, f"/inside_a_head?kind={kind}&inside_step=LayerNorm+of+the+attention")
    box = page.locator('.st-key-inside_map [aria-label*="weighted sum of v"][role=graphics-symbol]').first
    press(page, box)
    expect(page).to_have_url(re.compile("inside_step=Weighted"))
    table = page.locator(".st-key-inside_table")
    expect(table.locator("th.active")).to_contain_text("weight · v")

    if kind == "Digit":  # of 50 keys some are out of sight, the chosen one is not
        expect(table.locator("tr[aria-current]")).to_be_in_viewport()
    table.locator("tbody canvas").first.hover()
    expect(table.locator(".tip")).to_have_text(re.compile(r"^component \d+: \S+ × \S+ = "))
    row = table.locator("tbody tr").nth(1)
    name = row.locator("button").inner_text()
    row.locator(".scaled").click()
    expect(page).to_have_url(re.compile("inside_key="))
    expect(table.locator("tr[aria-current] button")).to_have_text(name)
    table.get_by_role("button", name=re.compile("softmax")).click()
    expect(page).to_have_url(re.compile("inside_sort=weight"))
    expect(table.locator("th.weight")).to_have_attribute("aria-sort", "descending")
    weights = [float(cell.inner_text()) for cell in table.locator("tbody td.weight").all()]
    assert weights == sorted(weights, reverse=True)

    other = opened_elsewhere(page)
    expect(other.locator(".st-key-inside_table tr[aria-current] button")).to_have_text(name)
    have_the_same_views(other, page)


@pytest.mark.slow
def test_a_click_on_the_text_makes_another_query(page):
    visit(
        page,
        "/inside_a_head?text=A+warm%2C+funny+and+beautifully+acted+film+that+I+would+gladly+watch+again.",
        width=1280,
    )
    expect(page.locator(".st-key-inside_table tfoot tr")).to_be_in_viewport(ratio=1)  # the table is whole
    press(page, mark(page, "inside_input", "film"))
    expect(page).to_have_url(re.compile(r"[?&]query=\d\+film"))
    expect(page.get_by_text(re.compile(r"query \d film"))).to_be_visible()
    press(page, mark(page, "inside_map", "1  x, token vectors"))
    expect(page).to_have_url(re.compile("inside_step=Residual"))
    expect(page.locator('[aria-label^="x of xᵢ"]')).to_be_visible()


@pytest.mark.slow
def test_why_a_weight_leads_to_the_head_that_wrote_and_back(page):
    visit(page, "/inside_a_head?text=The+film+is+not+good.&layer=1&head=0&query=5+good&inside_key=4+not")
    page.get_by_text("Why this weight?").click()
    expect(page).to_have_url(re.compile("inside_why=true"))
    expect(page.locator(".st-key-inside_score")).to_be_in_viewport(ratio=0.9)
    part = page.locator('.st-key-inside_score [aria-label^="L0 H3 from 4 not × all parts"]').first
    press(page, part)
    expect(page).to_have_url(re.compile("head=3"))
    chosen = [page.get_by_role("combobox", name=name) for name in ("Layer", "Head", "Query", "Key")]
    for box, value in zip(chosen, ("0", "3", "5 good", "4 not"), strict=True):
        expect(box).to_have_value(value)
    expect(page.get_by_text(re.compile("In L0 H3, .*attends to"))).to_be_visible()
    page.go_back()
    expect(page.get_by_text(re.compile("In L1 H0, .*attends to"))).to_be_visible()
    expect(page).to_have_url(re.compile("layer=1.*inside_why=true"))
