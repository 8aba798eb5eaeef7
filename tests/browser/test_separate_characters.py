"""An encoder that knows single characters alone: one press separates those that were typed, and Back takes it back."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.watching import ready

pytestmark = pytest.mark.slow


@pytest.fixture
def context(context_with_models: BrowserContext) -> BrowserContext:
    return context_with_models


def test_one_press_separates_the_characters_and_one_step_back_joins_them(page):
    page.goto("/?checkpoint=proteins&text=MKVLA")
    ready(page)
    box = page.get_by_role("textbox", name="Text")
    button = page.get_by_role("button", name="Separate the characters")
    expect(page.locator(".answer b")).to_have_text("1 of 1 token is unknown to this encoder")
    before = page.evaluate("history.length")
    button.click()
    expect(box).to_have_value("M K V L A")
    expect(button).to_be_hidden()
    ready(page)
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    expect(box).to_have_value("MKVLA")
    expect(button).to_be_visible()
