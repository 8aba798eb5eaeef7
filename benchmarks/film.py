"""python -m benchmarks.film [--url http://127.0.0.1:8501] [--speed 30]

How smoothly the recordings of training play: pictures a second that the browser paints, the time between two of them, and
the messages that reach the server meanwhile, for the text encoders and for those of digits. A picture counts when the
chart has drawn another one than in the frame before. Without an address it starts an app of its own.
"""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS
from tests.browser.server import serve
from tests.browser.watching import ready

# Notes when a frame has drawn other pictures of heads than the one before.
WATCH = """
    window.painted = [];
    window.sent = [];
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...message) {
        sent.push(performance.now());
        return send.apply(this, message);
    };
    let drawn = new Set(), last = "";
    const draw = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (image, ...box) {
        if (image.src?.length > 500 && box[2] > 100) drawn.add(image.src);
        return draw.call(this, image, ...box);
    };
    const look = (now) => {
        const shown = [...drawn].join();
        if (shown && shown !== last) painted.push(now);
        if (shown) last = shown;
        drawn = new Set();
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--url")
    parser.add_argument("--speed", default="30", choices=["5", "10", "30"])
    arguments = parser.parse_args()
    path = chromium.find()
    if not path:
        sys.exit(chromium.NONE_FOUND)
    with ExitStack() as stack:
        url = arguments.url
        if url is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            url = stack.enter_context(serve(home))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=path, args=FLAGS)
        for kind in ("Text", "Digit"):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(WATCH)
            print(f"{kind:6}", play(page, f"{url}/training?kind={kind}", arguments.speed), flush=True)
            page.close()
        browser.close()


def play(page: Page, url: str, speed: str) -> str:
    """Plays the recording at this address from beginning to end; returns what was measured, in words."""
    page.goto(url)
    ready(page)
    page.wait_for_function("painted.length > 0")
    page.get_by_role("combobox", name="Pictures a second").select_option(speed)
    page.evaluate("painted.length = 0")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Play").wait_for()
    times, sent = page.evaluate("[painted, sent]")
    messages = sum(times[0] <= time <= times[-1] for time in sent)
    gaps = [after - now for now, after in pairwise(times)]
    rate = 1000 * len(gaps) / (times[-1] - times[0])
    worst = sorted(gaps)[int(0.95 * len(gaps))]
    return (
        f"{len(times)} pictures painted, {rate:.1f} a second; from one to the next {median(gaps):.0f} ms (median), "
        f"{worst:.0f} ms (95 %); {messages} messages to the server"
    )


if __name__ == "__main__":
    main()
