"""An encoder from elsewhere: a folder, or a few files, and its heads appear."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.acting import text_box
from tests.browser.conftest import new_context
from tests.browser.server import ROOT
from tests.browser.watching import ready, visit

pytestmark = pytest.mark.slow

SHIPPED = ROOT / "checkpoints" / "imdb-pre-ln"
FILES = [SHIPPED / name for name in ("config.json", "model.safetensors", "tokenizer.json")]


@pytest.fixture
def context(context_with_models: BrowserContext) -> BrowserContext:
    return context_with_models


def heads(page: Page) -> None:
    ready(page)
    expect(page.locator(".st-key-all_heads_chart canvas").first).to_be_visible()


def test_a_folder_is_opened_and_its_address_opens_it_again(page):
    visit(page, "/your_own")
    row = page.locator("[class*=st-key-row_team]")
    expect(row).to_contain_text("4 layers × 4 heads")
    row.get_by_role("button", name="Open").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/\?checkpoint=team(%2F|/)my-encoder"))
    heads(page)
    page.goto(page.url)
    heads(page)
    expect(page.get_by_role("combobox", name="Encoder")).to_have_value("team/my-encoder")


def test_files_are_uploaded_and_their_encoder_is_opened(page):
    visit(page, "/your_own")
    page.locator("input[type=file]").set_input_files(FILES)
    expect(page.get_by_test_id("stFileChip")).to_have_count(3)
    page.get_by_role("button", name="Use these files").click()
    row = page.locator("[class*=st-key-row_upload]")
    expect(row).to_be_visible()
    ready(
        page
    )  # until the list stands still: the new row moves the others, whose "Open" would be hit in its place
    row.get_by_role("button", name="Open").click()
    expect(page).to_have_url(re.compile(r"checkpoint=upload"))
    heads(page)
    with new_context(page.context.browser) as other:
        somebody_elses = other.new_page()
        somebody_elses.goto(page.url)
        expect(somebody_elses.get_by_text("seen only in the session that made it")).to_be_visible()


# An encoder that knows single characters alone.
def test_one_press_separates_the_characters_and_one_step_back_joins_them(page):
    visit(page, "/?checkpoint=proteins&text=MKVLA")
    box = text_box(page)
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
