"""Finds the Chromium for the browser tests. `python -m tests.browser.chromium` installs one if there is none."""

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
    """Path of a Chromium that starts, or None. One of the system comes before one that Playwright downloaded."""
    return next((path for path in _candidates() if _starts(path)), None)


def install() -> str | None:
    """Downloads Chromium with Playwright or, if that fails and we are root, with apt-get. Returns its path, or None."""
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
    """Whether this program starts. Ubuntu's chromium-browser may be a stub; a download may lack libraries."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _run(*command: str) -> None:
    """Runs a command and ignores its exit code: `find` then tells whether it helped."""
    print(" ".join(command), flush=True)
    subprocess.run(command, check=False)


if __name__ == "__main__":
    sys.exit(0 if find() or install() else NONE_FOUND)
