"""A click takes a head or a token away, another one gives it back; what is taken away is in the address."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_links import mark, press
from tests.browser.watching import ready

URL = "/heads?heads_part=Ablate&checkpoint=imdb-pre-ln&text=The+film+is+not+good"


@pytest.mark.slow
def test_clicks_take_away_and_give_back(page):
    page.goto(URL)
    ready(page)
    for _ in range(2):
        press(page, mark(page, "ablate_grid", "L1 H2"))
        expect(page.get_by_text("Without L1 H2, the prediction")).to_be_visible()
        expect(page).to_have_url(re.compile(r"[?&]ablated=h1-2"))
        press(page, mark(page, "ablate_grid", "L1 H2"))
        expect(page.get_by_text("Nothing is taken away")).to_be_visible()
        expect(page).not_to_have_url(re.compile("ablated"))


@pytest.mark.slow
def test_a_step_can_be_undone(page):
    page.goto(URL)
    ready(page)
    press(page, mark(page, "ablate_grid", "L3 FF"))
    expect(page.get_by_text("Without the feed-forward of L3, the prediction")).to_be_visible()
    press(page, mark(page, "ablate_input", "not"))
    expect(page.get_by_text("Without the feed-forward of L3 and “not”, the prediction")).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]ablated=f3\.p4"))
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Without the feed-forward of L3, the prediction")).to_be_visible()
    page.get_by_role("button", name="Put all back").click()
    expect(page.get_by_text("Nothing is taken away")).to_be_visible()
