"""python -m benchmarks.tour_pictures

Makes the small pictures of the tour's stops, light and dark, anew: each shows the figures of the page that the stop
opens, as wide as they are. They are WebP files in `app_pages/reading/pictures`.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Page, expect, sync_playwright

from app_pages.controls.tour_controls import STOPS
from app_pages.reading.page import PICTURES, THEMES, picture_file
from benchmarks.screenshots import still
from tests.browser import chromium
from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.server import serve
from tests.browser.watching import ready

SIZE = (480, 300)  # pixels; shown at half of that
QUALITY = 55
MARGIN = 8  # pixels of the page
# Where the figures of a page begin; of a page without any, its first list.
FIGURES = (
    "[data-testid=stVegaLiteChart], [data-testid=stPlotlyChart], [data-testid=stBidiComponentRegular] table,"
    " [data-testid=stBidiComponentIsolated], [data-testid=stImage], .st-key-own"
)
BOX = """(selector) => {
    const boxes = [...document.querySelectorAll(selector)].map((figure) => figure.getBoundingClientRect());
    const seen = boxes.filter((box) => box.width > 150 && box.height > 60);
    const [left, top] = ["left", "top"].map((edge) => Math.min(...seen.map((box) => box[edge])));
    return [left, top, Math.max(...seen.map((box) => box.right)) - left];
}"""


def main() -> int:
    if not (executable := chromium.find()):
        sys.exit(chromium.NONE_FOUND)
    PICTURES.mkdir(exist_ok=True)
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        serve(Path(home)) as address,
        playwright.chromium.launch(executable_path=executable, args=FLAGS) as browser,
    ):
        for theme in THEMES:
            with browser.new_context(
                base_url=address,
                color_scheme=theme,
                reduced_motion="reduce",
                viewport={"width": 1280, "height": 1200},
            ) as context:
                context.set_default_timeout(PATIENCE)
                for number in range(1, len(STOPS) + 1):
                    with context.new_page() as page:
                        path = picture_file(number, theme)
                        path.write_bytes(picture(page, number))
                        print(f"{path.name}: {path.stat().st_size:,} bytes", flush=True)
    return 0


def picture(page: Page, number: int) -> bytes:
    """The picture of a stop as WebP."""
    page.goto("/reading")
    ready(page)
    page.locator(f".st-key-tour_open_{number} button").click()
    expect(page.locator(".st-key-tour")).to_contain_text(f"Tour, {number} of")
    ready(page)
    still(page)
    left, top, width = page.evaluate(BOX, FIGURES)
    width += 2 * MARGIN
    height = width * SIZE[1] / SIZE[0]
    clip: FloatRect = {"x": left - MARGIN, "y": max(0, top - MARGIN), "width": width, "height": height}
    with Image.open(io.BytesIO(page.screenshot(clip=clip, animations="disabled"))) as image:
        small = image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.save(file, "WEBP", quality=QUALITY, method=6)
    return file.getvalue()


if __name__ == "__main__":
    sys.exit(main())
