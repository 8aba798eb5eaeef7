"""Makes `docs/first_minute.gif`, the moving picture of the README, from a running app.

    streamlit run app.py &
    python -m tests.browser.first_minute [http://localhost:8501]

It needs what the tests need (`requirements-dev.txt`), and drives the app in Chromium.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser import chromium, linked_chart
from tests.browser.watching import ready

OUT = Path(__file__).parents[2] / "docs" / "first_minute.gif"
SIZE = {"width": 1280, "height": 760}
WIDTH = 960  # pixels of the picture
SECONDS = 2.2  # a frame
POINTED = 7, 9, 12  # tokens of the example that the page opens with
LINKS = "hiding a word", "pre-LN and post-LN"


def main() -> None:
    url = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501"
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find())
        page = browser.new_page(viewport=SIZE, base_url=url)
        frames = [_small(page.screenshot()) for _ in _minute(page)]
        browser.close()
    first, *others = frames
    first.save(
        OUT, save_all=True, append_images=others, duration=round(1000 * SECONDS), loop=0, optimize=True
    )
    print(f"{OUT}: {len(frames)} frames, {OUT.stat().st_size / 1e6:.1f} MB")


def _minute(page: Page) -> Iterator[None]:
    """Goes through the pages, and yields whenever a picture is to be taken."""
    _open(page, "/")
    yield
    for position in POINTED:
        linked_chart.token(page, position).hover()
        yield from _painted(page)
    linked_chart.point_at_head(page, 1, 1)
    yield from _painted(page)
    linked_chart.point_at_head(page, 2, 2)
    yield from _painted(page)
    for name in LINKS:
        _open(page, "/")
        before = page.url
        page.get_by_role("button", name=name).click()
        expect(page).not_to_have_url(before)
        _settled(page)
        yield
        if "post-LN" not in name:
            continue
        page.get_by_role("link", name="Norm placement").click()
        _settled(page)
        yield
    _open(page, "/inside_a_head?text=The+film+is+not+bad+at+all.&query=5+bad")
    yield
    _open(page, "/theory")
    yield


def _painted(page: Page) -> Iterator[None]:
    linked_chart.told(page)
    yield


def _open(page: Page, address: str) -> None:
    page.goto(address)
    _settled(page)


def _settled(page: Page) -> None:
    ready(page)
    before = None
    while (now := page.screenshot()) != before:  # until the last figures are painted
        before = now


def _small(picture: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image = image.resize((WIDTH, round(WIDTH * image.height / image.width)), Image.Resampling.LANCZOS)
    return image.quantize(128, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
