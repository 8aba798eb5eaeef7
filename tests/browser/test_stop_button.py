"""Slow work is stopped by a click while it runs, and goes on by another one.

The work cannot end before the click: `endless_work.py` keeps it at its first step until then.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, FilePayload, Locator, Page, expect

from tests.browser.conftest import new_context
from tests.browser.server import serve
from tests.browser.watching import ready

pytestmark = pytest.mark.slow

SENTENCE = "a long slow story that made me laugh and cry"
LONG = " ".join([SENTENCE] * 38)  # about 380 tokens: an experiment on them waits for its button


@pytest.fixture(scope="module")
def context(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    script = Path(__file__).with_name("endless_work.py")
    with serve(tmp_path_factory.mktemp("home"), script) as app, new_context(browser, app) as context:
        yield context


def open_text(page: Page, where: str, text: str, **query: str) -> None:
    page.goto(f"/{where}?{urlencode({'checkpoint': 'imdb-pre-ln', 'text': text, **query})}")


def begin_and_stop(page: Page, begin: Locator) -> None:
    begin.click()
    page.locator(".stButton button").filter(has_text="Stop").click()
    expect(page.get_by_text("Stopped before its end.")).to_be_visible()
    ready(page)
    expect(begin).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)


def test_a_lens_is_stopped_and_goes_on(page):
    open_text(page, "", SENTENCE, lens="value zeroing")
    page.locator(".stButton button").filter(has_text="Stop").click()
    stopped = page.get_by_text(re.compile(r"Leaving out one value after another: stopped at \d"))
    expect(stopped).to_be_visible()
    ready(page)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(page.locator(".st-key-all_heads_chart")).to_have_count(0)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator(".st-key-all_heads_chart canvas").first).to_be_visible()
    ready(page)
    expect(stopped).to_have_count(0)


def test_work_behind_a_button_is_stopped_and_the_button_comes_back(page):
    open_text(page, "heads", LONG, heads_part="Patch", patch_text=LONG.replace("laugh", "yawn", 1))
    begin = page.get_by_role("button", name=re.compile(r"^(timer )?Patch \d+ positions"))
    begin_and_stop(page, begin)


def test_pairs_of_a_file_are_stopped_and_go_on_where_they_were(page):
    page.goto(f"/heads?{urlencode({'heads_part': 'Patch', 'patch_pairs': 'pairs of a file'})}")
    lines = [f"{LONG} {number}\t{LONG.replace('laugh', 'yawn', 1)} {number}" for number in range(30)]
    file = FilePayload(
        name="pairs.tsv", mimeType="text/tab-separated-values", buffer="\n".join(lines).encode()
    )
    page.locator(".st-key-patch_pairs_entry input[type=file]").set_input_files(file)
    begin = page.get_by_role("button", name=re.compile(r"^(timer )?Patch each part in 30 pairs, about \d+ s"))
    begin_and_stop(page, begin)
    begin.click()
    expect(page.get_by_text(re.compile(r"Over 30 pairs, .* parts have a clear effect"))).to_be_visible()
