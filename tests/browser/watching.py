"""Waiting until a page is complete, and collecting the errors that it shows or logs."""

import re
import time
from collections.abc import Callable
from typing import Self

from playwright.sync_api import BrowserContext, ConsoleMessage, FloatRect, Locator, Page, WebError, expect

# A deep link makes Streamlit ask below the page's own path first, and then at the root.
# Milliseconds that a page may take: torch is imported for the first one, on a machine that may be busy with other work.
PATIENCE = 180_000
# Streamlit hides what it only retains.
DRAWN = """() => [...document.querySelectorAll(":is(.stVegaLiteChart, .stPlotlyChart):not([data-retained] *)")]
  .filter(chart => chart.checkVisibility() && chart.offsetWidth > 0)
  .every(chart => chart.querySelector("svg.marks, canvas.marks, .main-svg")?.getBoundingClientRect().height > 0)"""
HARMLESS = re.compile(r"/_stcore/(health|host-config)$")


def ready(page: Page) -> None:
    """Waits until the script has ended, nothing in sight is a placeholder, and all figures are drawn.

    A click starts the next run only after a moment: wait with `expect` for what the click changes.
    """
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(page.get_by_test_id("stSkeleton").filter(visible=True)).to_have_count(0)
    expect(page.locator(".kept-figure")).to_have_count(0)
    page.wait_for_function(DRAWN)


def visit(page: Page, address: str, *, width: int | None = None, height: int = 800) -> None:
    """Opens the address, in a window of `width` × `height` pixels or else as it is, and waits until the page is `ready`."""
    if width is not None:
        page.set_viewport_size({"width": width, "height": height})
    page.goto(address)
    ready(page)


def eventually(page: Page, holds: Callable[[], bool]) -> None:
    """Waits until `holds()`, asked once a frame: for what is measured; `expect` waits for all else."""
    give_up = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < give_up, "it never held"
        page.evaluate("() => new Promise(requestAnimationFrame)")


def rectangle(locator: Locator) -> FloatRect:
    """Where the element is in the window, in pixels, as soon as it has a place: what is just drawn anew has none."""
    drawn: list[FloatRect] = []

    def is_drawn() -> bool:
        box = locator.bounding_box()
        drawn.extend([box] if box else [])
        return bool(drawn)

    eventually(locator.page, is_drawn)
    return drawn[0]


class Complaints(list[str]):
    """Errors in the console and uncaught exceptions of all windows of a browser context, inside the `with`, in order."""

    def __init__(self, context: BrowserContext) -> None:
        super().__init__()
        self._context = context

    def __enter__(self) -> Self:
        self._context.on("console", self._add_console_message)
        self._context.on("weberror", self._add_exception)
        return self

    def __exit__(self, *_: object) -> None:
        self._context.remove_listener("console", self._add_console_message)
        self._context.remove_listener("weberror", self._add_exception)

    def add_exceptions_of(self, page: Page) -> None:
        """Adds the exceptions that the app shows on the page."""
        self.extend(page.get_by_test_id("stException").all_inner_texts())

    def _add_console_message(self, message: ConsoleMessage) -> None:
        url = message.location["url"]
        if message.type == "error" and not HARMLESS.search(url):
            self.append(f"{message.text} ({url})")

    def _add_exception(self, error: WebError) -> None:
        self.append(str(error.error))
