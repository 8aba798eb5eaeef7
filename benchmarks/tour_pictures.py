"""python -m benchmarks.tour_pictures

Makes the small pictures of the tour's stops, light and dark, anew: each shows a detail of a figure of the page that the stop
opens, large enough to be recognised. They are WebP files in `app_pages/reading/pictures`.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageColor, ImageOps
from playwright.sync_api import FloatRect, Page, ViewportSize, expect, sync_playwright

from app_pages.controls.tour_controls import STOPS
from app_pages.reading.page import PICTURES, THEMES, picture_file
from benchmarks.screenshots import still
from tests.browser import chromium
from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.server import serve
from tests.browser.watching import ready

SIZE = (480, 300)  # pixels; shown at half of that
QUALITY = 55
MARGIN, BETWEEN = 12, 48  # pixels of the picture: around its parts, and between two of them
LAPTOP: ViewportSize = {"width": 1280, "height": 800}
# What each stop shows: parts of elements, as pixels of a laptop's page from the left and the top, width and height.
PARTS: dict[int, tuple[tuple[str, tuple[int, int, int, int]], ...]] = {
    1: ((".st-key-all_heads_chart canvas", (27, 33, 466, 348)),),
    2: ((".st-key-mask_map_pattern .stPlotlyChart", (103, 111, 335, 210)),),
    3: ((".st-key-inside_map svg.marks", (22, 5, 204, 187)),),
    4: ((".st-key-shown_inside_products svg.marks", (65, 44, 525, 236)),),
    5: ((".st-key-shown_positions_table .stPlotlyChart", (77, 80, 460, 288)),),
    6: ((".st-key-heads_table", (0, 0, 240, 150)),),
    7: ((".st-key-shown_film canvas", (23, 19, 352, 263)),),
    8: ((".st-key-shown_answer_parts svg.marks", (394, 114, 226, 131)),),
    9: (
        (".st-key-heads_first_chart canvas", (27, 33, 151, 151)),
        (".st-key-heads_second_chart canvas", (27, 33, 151, 151)),
    ),
    10: (("[class*=st-key-row_]", (0, 0, 140, 45)), ("[class*=st-key-row_]", (648, 0, 56, 45))),
}


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
                viewport=LAPTOP,
                device_scale_factor=2,
            ) as context:
                context.set_default_timeout(PATIENCE)
                for number in range(1, len(STOPS) + 1):
                    with context.new_page() as page:
                        path = picture_file(number, theme)
                        path.write_bytes(picture(page, number))
                        print(f"{path.name}: {path.stat().st_size:,} bytes", flush=True)
    return 0


def picture(page: Page, number: int) -> bytes:
    """The small picture of one stop of the tour, as WebP."""
    page.goto("/reading")
    ready(page)
    page.locator(f".st-key-tour_open_{number} button").click()
    expect(page.locator(".st-key-tour")).to_contain_text(f"Tour, {number} of")
    ready(page)
    still(page)
    background = ImageColor.getrgb(
        page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor")
    )
    parts = [screenshot(page, *part) for part in PARTS[number]]
    width = sum(part.width for part in parts) + BETWEEN * (len(parts) - 1)
    whole = Image.new("RGB", (width, max(part.height for part in parts)), background)
    left = 0
    for part in parts:
        whole.paste(part, (left, 0))
        left += part.width + BETWEEN
    small = ImageOps.pad(
        whole, (SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN), Image.Resampling.LANCZOS, background
    )
    file = io.BytesIO()
    ImageOps.expand(small, MARGIN, background).save(file, "WEBP", quality=QUALITY, method=6)
    return file.getvalue()


def screenshot(page: Page, selector: str, box: tuple[int, int, int, int]) -> Image.Image:
    """The part `box` of the first element that the selector names."""
    element = page.locator(selector).first.bounding_box()
    assert element is not None
    left, top, width, height = box
    clip: FloatRect = {"x": element["x"] + left, "y": element["y"] + top, "width": width, "height": height}
    with Image.open(io.BytesIO(page.screenshot(clip=clip, animations="disabled"))) as image:
        return image.convert("RGB")


if __name__ == "__main__":
    sys.exit(main())
