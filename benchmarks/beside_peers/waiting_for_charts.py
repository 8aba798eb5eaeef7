"""How long a reader waits for a chart when it is opened, pointed at and clicked, beside BertViz's head view and model
view.
"""

import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Error, Locator, Page, Playwright, Route, sync_playwright
from playwright.sync_api import TimeoutError as NotPaintedError

from tests.browser import chromium
from tests.browser.server import serve

from .encoder_folders import Encoders
from .readme_tables import section, table
from .side import Side, both_sides

SIZES = ("4x4x18", "6x12x30", "6x12x128", "12x12x256", "12x12x512")
QUICK = ("4x4x18", "6x12x30", "6x12x128")
LIMIT = 120  # seconds that a page may take
MB = 1e6
# Larger pages are not opened: of 432 MB, at 12 × 12 × 256, one took 11 GB and had not answered its gestures after six minutes.
LARGEST = 100 * MB
ROUNDS, SLOW = 3, 5  # rounds of a page, and seconds after which one is enough
GESTURES = 12
PATIENCE = 10  # seconds for all gestures of a kind
POLL = 5  # ms
WINDOW = {"width": 1280, "height": 800}
APP, SAVED, HEAD_VIEW, MODEL_VIEW = "app", "saved page", "BertViz head view", "BertViz model view"
# What BertViz fetches from a network, and the packages that hold it; jQuery 2.0.0 itself is not in npm.
CDN = "https://cdnjs.cloudflare.com/**"
SCRIPTS = {
    "require": ("requirejs@2.3.6", "package/require.js"),
    "jquery": ("jquery@2.1.0", "package/dist/jquery.min.js"),
    "d3": ("d3@5.7.0", "package/dist/d3.min.js"),
}
# From the gesture, as the browser saw it, to the end of the frame that answers it.
TIMES = """kind => {
  window.times = [];
  window.addEventListener(kind, (event) => {
    if (!event.target.closest("canvas, svg")) return;
    requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - event.timeStamp)));
  }, { capture: true });
}"""
PAINTED = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
EXPLAINED = """Layers × heads × tokens of random weights. *Opened*: from the address to the frame that shows all of it, of a file
on disk or, for the app, from a server on this machine that has shown it before. *Pointer* and *click*: from the event to the end of
the frame that answers it, medians; on another head and query of this project's chart; in the head view on a token, and on the
square of a head; in the model view on a token of the head that is open, and on a head to open it. What comes from a network is
served here ({scripts}), so BertViz waits for none. Its pages above {largest:.0f} MB are not opened: one of 432 MB took 11 GB of memory
and had not answered its gestures after six minutes. Chromium without a GPU; {rounds}; at most {limit} s for a page. While the
pointer moved over the app's chart, its server heard {messages} messages."""


class Measured(NamedTuple):
    """What one page took: seconds to open, milliseconds to react to the pointer and to a click."""

    opened: float  # seconds
    pointer: float  # ms
    click: float  # ms


Gestures = Callable[[Page], tuple[float, float]]


def measured(peers: str, _encoders: Encoders, quick: bool) -> str:
    """The section of this group of measurements, in Markdown; `peers` is the Python of the peers."""
    rows, messages = [], 0
    with (
        TemporaryDirectory() as home,
        both_sides(peers) as (ours, theirs),
        serve(Path(home), script=Path(__file__).with_name("linked_page.py")) as address,
        sync_playwright() as playwright,
    ):
        bertviz = BertViz(theirs, Path(home))
        for side, view in ((ours, {}), (theirs, {"view": "head view"})):  # what is read once is not timed
            side.seconds("page", size="1x1x3", path=str(Path(home, "first.html")), **view)
        for size in QUICK if quick else SIZES:
            own, heard = _ours(playwright, ours, address, size, Path(home), 1 if quick else ROUNDS)
            messages += heard
            for cells in (*own, *bertviz.rows(playwright, size, 1 if quick else ROUNDS)):
                rows.append([size.replace("x", " × "), *cells])
                print(*rows[-1], flush=True)
    explained = EXPLAINED.format(
        scripts=", ".join(package for package, _ in SCRIPTS.values()),
        rounds="once" if quick else f"medians of {ROUNDS} times, once where that took {SLOW} s",
        limit=LIMIT,
        largest=LARGEST / MB,
        messages=messages or "no",
    )
    columns = ["", "page", "made, s", "MB", "opened, s", "pointer, ms", "click, ms"]
    return section("Pages", explained, table(columns, rows))


def _ours(
    playwright: Playwright, ours: Side, address: str, size: str, folder: Path, rounds: int
) -> tuple[list[list[str]], int]:
    """The table rows of the app and of the saved page for one `size`, and how many messages the app's server received
    while the pointer moved.
    """
    path = folder / "ours.html"
    made = ours.seconds("page", clock="wall", size=size, path=str(path))
    traffic = Traffic()
    with _browser(playwright) as page:  # the first time the server makes the weights
        _open(page, f"{address}/?size={size}", _chart_of_app)
    of_app, of_file = [], []
    for _ in range(rounds):
        with _browser(playwright) as page:
            traffic.watch(page)
            of_app.append(_measure(page, f"{address}/?size={size}", _chart_of_app, traffic.gestures))
        with _browser(playwright) as page:
            of_file.append(
                _measure(
                    page, path.as_uri(), _ready, lambda page: _on_chart(page.locator("#chart canvas"), page)
                )
            )
    return [
        [f"**{APP}**", "", f"{traffic.received / rounds / MB:.2f}", *_cells(of_app)],
        [f"**{SAVED}**", f"{made:.2f}", f"{path.stat().st_size / MB:.2f}", *_cells(of_file)],
    ], traffic.heard


class Traffic:
    """Counts what the app's server sends to the page, and the messages that it receives while the pointer moves."""

    def __init__(self) -> None:
        self.received = self.heard = 0
        self._is_open = self._moves = False

    def watch(self, page: Page) -> None:
        """Counts the messages of this page from now on."""
        self._is_open = True
        page.on(
            "websocket",
            lambda socket: (socket.on("framereceived", self._in), socket.on("framesent", self._out)),
        )

    def gestures(self, page: Page) -> tuple[float, float]:
        """Runs the gestures of `_on_chart` and counts the messages that the server receives meanwhile."""
        self._is_open = False
        chart = page.locator(".st-key-chart_chart canvas")
        self._moves = True
        pointer = _times(page, "pointermove", _over_chart(chart, page))
        self._moves = False
        return pointer, _times(page, "click", _heads_of_chart(chart, page))

    def _in(self, frame: str | bytes) -> None:
        self.received += len(frame) if self._is_open else 0

    def _out(self, _frame: str | bytes) -> None:
        self.heard += self._moves


class BertViz:
    """The measurements of BertViz's two views. A view that did not open in time is not tried at a larger size."""

    def __init__(self, theirs: Side, folder: Path) -> None:
        self._theirs, self._folder = theirs, folder
        self._scripts = fetch_scripts(folder)
        self._failed: dict[str, str] = {}
        self._bytes_a_weight: dict[str, float] = {}

    def rows(self, playwright: Playwright, size: str, rounds: int) -> list[list[str]]:
        """The table rows of both views for one `size`."""
        views = {HEAD_VIEW: ("head view", _on_head_view), MODEL_VIEW: ("model view", _on_model_view)}
        return [
            [name, *self._row(playwright, size, view, gestures, rounds)]
            for name, (view, gestures) in views.items()
        ]

    def _row(
        self, playwright: Playwright, size: str, view: str, gestures: Gestures, rounds: int
    ) -> list[str]:
        layers, heads, n = map(int, size.split("x"))
        n_weights = layers * heads * n**2
        expected = n_weights * self._bytes_a_weight.get(view, 0)
        if view in self._failed or expected > LARGEST:
            why = self._failed.get(view, "not opened")
            return ["", f"about {expected / MB:,.0f}", why, "", ""]
        path = self._folder / "theirs.html"
        made = self._theirs.seconds("page", clock="wall", view=view, size=size, path=str(path))
        self._bytes_a_weight[view] = path.stat().st_size / n_weights
        first = [f"{made:.2f}", f"{path.stat().st_size / MB:.2f}"]
        results: list[Measured] = []
        for _ in range(rounds):
            try:
                with _browser(playwright) as page:
                    page.route(CDN, self._serve)
                    results.append(_measure(page, path.as_uri(), _drawn, gestures))
            except NotPaintedError:
                self._failed[view] = f"> {LIMIT}"
                return [*first, self._failed[view], "", ""]
            except Error:
                self._failed[view] = "the tab crashed"
                return [*first, self._failed[view], "", ""]
            if results[-1].opened > SLOW:
                break
        return [*first, *_cells(results)]

    def _serve(self, route: Route) -> None:
        name = next(name for name in SCRIPTS if f"/{name}" in route.request.url)
        route.fulfill(body=self._scripts[name], content_type="text/javascript")


def fetch_scripts(folder: Path) -> dict[str, bytes]:
    """The scripts that BertViz's pages load from a network, by a part of their address. Raises SystemExit without
    npm.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit(
            "BertViz's pages need d3, jQuery and RequireJS: install npm, with which they are fetched"
        )
    packages = [package for package, _ in SCRIPTS.values()]
    subprocess.run([npm, "pack", "--silent", *packages], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    scripts = {}
    for name, (package, member) in SCRIPTS.items():
        with tarfile.open(folder / f"{package.replace('@', '-')}.tgz") as archive:
            scripts[name] = archive.extractfile(member).read()
    return scripts


@contextmanager
def _browser(playwright: Playwright) -> Iterator[Page]:
    """A page in a Chromium process of its own, which is ended afterwards, even if it is busy with a large page."""
    browser = playwright.chromium.launch(
        executable_path=chromium.find(), args=["--no-sandbox", "--disable-gpu"]
    )
    try:
        page = browser.new_page(viewport=WINDOW)
        page.set_default_timeout(1000 * LIMIT)
        yield page
    finally:
        with suppress(Error):
            browser.close()


def _measure(page: Page, address: str, is_drawn: Callable[[Page], None], gestures: Gestures) -> Measured:
    """Opens the address and makes the gestures on it; `is_drawn` waits until the page is drawn."""
    opened = _open(page, address, is_drawn)
    return Measured(opened, *gestures(page))


def _open(page: Page, address: str, is_drawn: Callable[[Page], None]) -> float:
    """The seconds from requesting the address until the page is painted."""
    page.goto(address, wait_until="commit")
    is_drawn(page)
    return page.evaluate(PAINTED) / 1000


def _chart_of_app(page: Page) -> None:
    """Waits until the chart of the app is drawn."""
    page.locator(".st-key-chart_chart canvas").wait_for()
    page.wait_for_function("document.body.value?.chart?.weights.length > 0")


def _ready(page: Page) -> None:
    """Waits until the chart of the saved page is drawn."""
    page.locator("html[data-ready=true]").wait_for()  # the page allows no function to be made of a text


def _drawn(page: Page) -> None:
    """Does nothing, as BertViz draws everything before the page has loaded."""
    page.wait_for_function("document.querySelector('#vis svg line')")


def _on_chart(chart: Locator, page: Page) -> tuple[float, float]:
    """Milliseconds that the linked chart takes to react to the pointer, and to a click."""
    return _times(page, "pointermove", _over_chart(chart, page)), _times(
        page, "click", _heads_of_chart(chart, page)
    )


def _over_chart(chart: Locator, page: Page) -> Sequence[Callable[[], None]]:
    """Gestures that move the pointer over small maps and over cells of the large map, in turn."""
    box = chart.bounding_box()
    shares = [(move + 0.5) / GESTURES for move in range(GESTURES)]
    points = [
        (x * box["width"], y * box["height"])
        for share in shares
        for x, y in (
            ((0.03 + 0.3 * share), (0.2 + 0.6 * share)),
            ((0.5 + 0.25 * share), (0.25 + 0.6 * share)),
        )
    ]
    return [lambda x=x, y=y: page.mouse.move(box["x"] + x, box["y"] + y) for x, y in points]


def _heads_of_chart(chart: Locator, page: Page) -> Sequence[Callable[[], None]]:
    """Gestures that click on two small maps in turn."""
    box = chart.bounding_box()
    return [
        lambda x=x: page.mouse.click(box["x"] + x, box["y"] + 0.3 * box["height"])
        for x in (0.05 * box["width"], 0.25 * box["width"]) * (GESTURES // 2)
    ]


def _on_head_view(page: Page) -> tuple[float, float]:
    """Milliseconds that BertViz's head view takes to react to the pointer, and to a click."""
    tokens = _boxes(page, "#left .background")
    squares = _boxes(page, "#vis svg > g:last-child rect")
    return _times(page, "pointermove", _moves(page, tokens)), _times(page, "click", _clicks(page, squares))


def _on_model_view(page: Page) -> tuple[float, float]:
    """Milliseconds that BertViz's model view takes to react to the pointer, and to a click."""
    heads = _boxes(page, "[id^=attn_background_0_]")
    ends = [heads[0], heads[-1]]  # what is open of one covers its neighbours
    click = _times(page, "click", _clicks(page, ends * (GESTURES // 2)))
    tokens = _boxes(page, ".detail .highlight")
    left = [box for box in tokens if box["x"] == tokens[0]["x"]]
    return _times(page, "pointermove", _moves(page, left)), click


def _boxes(page: Page, selector: str) -> list[dict[str, float]]:
    """The boxes of the elements whose upper edge is in the window."""
    boxes = page.eval_on_selector_all(
        selector,
        "all => all.map(each => each.getBoundingClientRect()).map(({x, y, width, height}) => ({x, y, width, height}))",
    )
    return [box for box in boxes if 0 <= box["y"] < WINDOW["height"] - 20]


def _middle(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 20)


def _moves(page: Page, boxes: list[dict[str, float]]) -> Sequence[Callable[[], None]]:
    return [lambda box=box: page.mouse.move(*_middle(box)) for box in (boxes * GESTURES)[:GESTURES]]


def _clicks(page: Page, boxes: list[dict[str, float]]) -> Sequence[Callable[[], None]]:
    return [lambda box=box: page.mouse.click(*_middle(box)) for box in (boxes * GESTURES)[:GESTURES]]


def _times(page: Page, kind: str, gestures: Sequence[Callable[[], None]]) -> float:
    """Median milliseconds from a gesture to the paint after it; each gesture waits for the paint after the one
    before, and the first is not counted.
    """
    page.evaluate(TIMES, kind)
    begun = time.monotonic()
    for number, gesture in enumerate(gestures, start=1):
        gesture()
        while page.evaluate("times.length") < number and time.monotonic() - begun < PATIENCE:
            page.wait_for_timeout(POLL)
        if time.monotonic() - begun > PATIENCE:
            break
    times = page.evaluate("times")
    return median(times[1:] or times or [float("nan")])


def _cells(results: list[Measured]) -> list[str]:
    """The table cells of several measurements of one page."""
    opened, pointer, click = (median(values) for values in zip(*results, strict=True))
    return [f"{opened:.2f}", f"{pointer:.0f}", f"{click:.0f}"]
