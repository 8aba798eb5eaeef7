"""Headings between the parts of a page."""

import pytest
from playwright.sync_api import expect

from tests.browser.watching import eventually, ready

pytestmark = pytest.mark.slow

# How many pixels of each heading lie below the top of what follows it.
COVERED = """() => [...document.querySelectorAll("[data-testid=stMarkdownContainer] :is(h2, h3)")].map((heading) => {
    const element = heading.closest("[data-testid=stElementContainer]");
    const next = element.nextElementSibling ?? element.closest("[data-testid=stLayoutWrapper]").nextElementSibling;
    return heading.getBoundingClientRect().bottom - next.getBoundingClientRect().top;
})"""


@pytest.mark.parametrize("address", ["/training?kind=Digit", "/inside_a_head?inside=LayerNorm"])
def test_nothing_covers_a_heading(page, address):
    page.goto(address)
    ready(page)
    expect(page.locator("[data-testid=stMarkdownContainer] h2").last).to_be_visible()
    assert page.evaluate(COVERED)
    eventually(page, lambda: max(page.evaluate(COVERED)) <= 1)
