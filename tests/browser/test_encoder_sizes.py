"""The boxes for the sizes of an encoder show their numbers whole."""

import pytest
from playwright.sync_api import expect

from tests.browser.watching import ready

pytestmark = pytest.mark.slow

# The numbers of the boxes that are cut off on the right, by label.
CUT = """() => Object.fromEntries(
    [...document.querySelectorAll('.stNumberInput input[type=number]')]
        .filter(box => box.scrollWidth > box.clientWidth)
        .map(box => [box.getAttribute('aria-label'), box.value]))"""


def test_no_size_is_cut_off(page):
    """37000 tokens once read 370; the largest size that a box takes has six digits."""
    page.goto("/cost")
    ready(page)
    page.locator(".st-key-more button").first.click()
    expect(page.locator(".st-key-cost_vocab_size input")).to_have_value("37000")
    assert page.evaluate(CUT) == {}
    page.goto("/cost?cost_vocab_size=262144&cost_n_positions=262144")
    ready(page)
    page.locator(".st-key-more button").first.click()
    for size in ("vocab_size", "n_positions"):
        expect(page.locator(f".st-key-cost_{size} input")).to_have_value("262144")
    assert page.evaluate(CUT) == {}
