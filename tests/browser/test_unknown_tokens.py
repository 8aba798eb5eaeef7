"""An encoder that knows single characters alone: one press separates those that were typed, and Back takes it back."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from model import checkpoint
from tests.browser.conftest import PATIENCE
from tests.browser.server import serve
from tests.browser.watching import ready
from tests.model import tiny


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app as it is started with a folder that holds an encoder of proteins."""
    models = tmp_path_factory.mktemp("models")
    checkpoint.save(models / "proteins", tiny.build(tiny.TEXT), {}, tiny.amino_acids(tiny.TEXT.n_positions))
    with serve(tmp_path_factory.mktemp("home"), given=["--models", str(models)]) as address:
        yield address


@pytest.fixture(scope="module")
def context(app: str, browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(base_url=app) as context:
        context.set_default_timeout(PATIENCE)
        yield context


def test_one_press_separates_the_characters_and_one_step_back_joins_them(page: Page) -> None:
    page.goto("/?checkpoint=proteins&text=MKVLA")
    ready(page)
    box = page.get_by_role("textbox", name="Text")
    button = page.get_by_role("button", name="Separate the characters")
    expect(page.get_by_text("1 of 1 token is unknown to this tokenizer.")).to_be_visible()
    before = page.evaluate("history.length")
    button.click()
    expect(box).to_have_value("M K V L A")
    expect(button).to_be_hidden()
    ready(page)
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    expect(box).to_have_value("MKVLA")
    expect(button).to_be_visible()
