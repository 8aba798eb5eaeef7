"""python -m benchmarks.pointing [--sizes 4x4x18 6x12x30 ...] [--moves 24]

How long the linked chart of Attention takes from a move of the pointer to the painted answer, by layers × heads × tokens:
the median and the slowest of the moves in ms, and how much the server sent for the page. The last column counts the
messages to the server while the pointer moved: there should be none.
"""

import argparse
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, WebSocket, sync_playwright

from tests.browser import chromium
from tests.browser.server import serve

SIZES = ("4x4x18", "4x6x50", "6x12x30", "6x12x128", "12x12x64", "12x12x128")
PAGE = Path(__file__).with_name("pointing_page.py")
WINDOW = {"width": 1280, "height": 800}
# From the pointer's move, as the browser saw it, to the end of the frame that answers it.
TIMES = """() => {
  window.times = [];
  const chart = document.querySelector(".st-key-chart_chart canvas");
  window.addEventListener("pointermove", (event) => {
    if (event.target !== chart) return;
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - event.timeStamp)));
  });
}"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pointing", description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, help="layers x heads x tokens")
    parser.add_argument("--moves", type=int, default=24)
    arguments = parser.parse_args()
    print("size        painted  slowest  page kB messages")
    with (
        TemporaryDirectory() as home,
        serve(Path(home), script=PAGE) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=["--no-sandbox", "--disable-gpu"]
        )
        for size in arguments.sizes:
            page = browser.new_page(viewport=WINDOW)
            numbers = measure(page, f"{address}/?size={size}", arguments.moves)
            print(f"{size:10}", "".join(f"{number:>9}" for number in numbers), flush=True)
            page.close()
        browser.close()


def measure(page: Page, address: str, n_moves: int) -> list[str]:
    """Times and traffic of `n_moves` moves over small maps, and as many over cells of the large one."""
    received: list[int] = []
    sent: list[int] = []

    def count(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: received.append(len(frame)))
        socket.on("framesent", lambda frame: sent.append(len(frame)))

    page.on("websocket", count)
    page.goto(address)
    chart = page.locator(".st-key-chart_chart canvas")
    chart.wait_for()
    page.wait_for_function("document.body.value?.chart?.weights.length > 0")
    page.wait_for_timeout(1000)
    page_size = sum(received)
    sent.clear()
    page.evaluate(TIMES)
    box = chart.bounding_box()
    assert box is not None
    for move in range(n_moves):
        share = (move + 0.5) / n_moves
        page.mouse.move(
            box["x"] + 40 + share * 0.3 * box["width"], box["y"] + (0.2 + 0.6 * share) * box["height"]
        )
        page.wait_for_timeout(60)
        page.mouse.move(
            box["x"] + (0.5 + 0.25 * share) * box["width"], box["y"] + (0.25 + 0.6 * share) * box["height"]
        )
        page.wait_for_timeout(60)
    painted = page.evaluate("window.times")
    return [
        f"{median(painted):.0f}",
        f"{max(painted):.0f}",
        f"{page_size / 1000:,.0f}",
        str(len(sent)),
    ]


if __name__ == "__main__":
    main()
