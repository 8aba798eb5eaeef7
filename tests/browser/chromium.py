"""Which Chromium the browser tests drive: `python -m tests.browser.chromium` installs one where there is none."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
PLAYWRIGHT = (sys.executable, "-m", "playwright", "install", "chromium")
NONE_FOUND = (
    "The browser tests need a Chromium, and none could be installed: "
    f"put one of {', '.join(NAMES)} on PATH, or run `{' '.join(PLAYWRIGHT)} --with-deps` where there is a network."
)


def find() -> str | None:
    """Path of a Chromium that starts, None where there is none: the system's own before Playwright's download."""
    return next((path for path in _candidates() if _starts(path)), None)


def install() -> str | None:
    """Path of the Chromium that Playwright downloads, or of Debian's where that fails and we are root."""
    _run(*PLAYWRIGHT)
    if (path := find()) is None and shutil.which("apt-get") and os.geteuid() == 0:
        _run("apt-get", "update", "--quiet=2")
        _run("apt-get", "install", "--quiet=2", "--yes", "chromium")
        path = find()
    return path


def _candidates() -> Iterator[str]:
    yield from filter(None, map(shutil.which, NAMES))
    with sync_playwright() as playwright:
        yield playwright.chromium.executable_path


def _starts(path: str) -> bool:
    """Ubuntu's chromium-browser may be a stub that only points to a shop; a download may lack libraries."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _run(*command: str) -> None:
    """A step that may fail, because another is tried after it: what counts is what `find` then finds."""
    print(" ".join(command), flush=True)
    subprocess.run(command, check=False)


if __name__ == "__main__":
    sys.exit(0 if find() or install() else NONE_FOUND)
