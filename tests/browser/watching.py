"""What a test waits for in a page, and what nobody should ever see in one."""

import re
from typing import Self

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, WebError, expect

# A deep link makes Streamlit ask below the page's own path first, and then at the root.
HARMLESS = re.compile(r"/_stcore/(health|host-config)$")


def ready(page: Page) -> None:
    """Waits until the script has run, the parts of the page that load late have come, and figures are drawn that changed.

    A click starts the next run only after a moment: wait with `expect` for what the click changes.
    """
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
    expect(page.locator(".kept-figure")).to_have_count(0)


class Complaints(list[str]):
    """Everything that goes wrong in the windows of a browser context while this is entered, in that order."""

    def __init__(self, context: BrowserContext) -> None:
        super().__init__()
        self._context = context

    def __enter__(self) -> Self:
        self._context.on("console", self._hear)
        self._context.on("weberror", self._catch)
        return self

    def __exit__(self, *_: object) -> None:
        self._context.remove_listener("console", self._hear)
        self._context.remove_listener("weberror", self._catch)

    def look_at(self, page: Page) -> None:
        """Adds the exceptions that the app shows in the page itself."""
        self.extend(page.get_by_test_id("stException").all_inner_texts())

    def _hear(self, message: ConsoleMessage) -> None:
        where = message.location["url"]
        if message.type == "error" and not HARMLESS.search(where):
            self.append(f"{message.text} ({where})")

    def _catch(self, error: WebError) -> None:
        self.append(str(error.error))
