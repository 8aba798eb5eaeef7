"""One server and one Chromium for all browser tests; each test has its own window, and so its own session.

What is marked as slow, and so in `make test-all` alone, is how a page looks, and the same gesture in other places.

The windows share one browser context, which keeps the code of Streamlit and of the charts: a page opens in three
quarters of the time.
"""

import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from model import checkpoint
from tests.browser import chromium
from tests.browser.server import ROOT, serve
from tests.browser.watching import PATIENCE, Complaints
from tests.model import tiny

FAILED = pytest.StashKey[bool]()
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the app needs nothing from elsewhere
)


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of the running app."""
    with serve(tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    assert path, chromium.NONE_FOUND
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder for a screenshot of each failed test: `pytest-of-.../screenshots0` in the temporary folder."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture
def color_scheme() -> str:
    """The colour scheme that the browser prefers; parametrize it as "light" and "dark" to test both themes."""
    return "light"


@pytest.fixture(scope="package")
def app_with_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of the app, started with a folder of models (`team/my-encoder`, `proteins`) and with uploads up to 20 MB."""
    models = tmp_path_factory.mktemp("models")
    shutil.copytree(ROOT / "checkpoints" / "imdb-pre-ln", models / "team" / "my-encoder")
    checkpoint.save(models / "proteins", tiny.build(tiny.TEXT), {}, tiny.amino_acids(tiny.TEXT.n_positions))
    arguments = ["--models", str(models), "--uploads", "20"]
    home = tmp_path_factory.mktemp("home")
    with serve(home, options=["--server.maxUploadSize=20"], arguments=arguments) as address:
        yield address


@pytest.fixture(scope="package")
def context(app: str, browser: Browser) -> Iterator[BrowserContext]:
    with new_context(browser, app) as context:
        yield context


@pytest.fixture(scope="package")
def context_with_models(app_with_models: str, browser: Browser) -> Iterator[BrowserContext]:
    with new_context(browser, app_with_models) as context:
        yield context


@contextmanager
def new_context(browser: Browser, url: str | None = None, **options: Any) -> Iterator[BrowserContext]:
    """A context, with the `options` of Playwright, in which everything may take its time."""
    with browser.new_context(base_url=url, **options) as context:
        context.set_default_timeout(PATIENCE)
        yield context


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def page(
    context: BrowserContext, color_scheme: str, screenshots: Path, request: pytest.FixtureRequest
) -> Iterator[Page]:
    """An empty window; `page.goto("/")` opens the app. Fails the test if any window logged or showed an error."""
    with Complaints(context) as complaints:
        page = context.new_page()
        page.emulate_media(color_scheme=color_scheme)
        yield page
        for number, window in enumerate(context.pages):
            name = re.sub(r"\W+", "-", f"{request.node.path.stem}-{request.node.name}-{number}")
            if FAILED in request.node.stash:
                window.screenshot(path=screenshots / f"{name}.png")
            complaints.add_exceptions_of(window)
            window.close()
    context.clear_permissions()
    if complaints:
        pytest.fail("\n".join(complaints), pytrace=False)
