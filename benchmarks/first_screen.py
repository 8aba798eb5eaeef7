"""python -m benchmarks.first_screen [--of FOLDER] [--only PAGE] [--present]

What stands on the first screen of every page, in a window of 1280 × 800 pixels:

- tabs: parts of the page;
- controls: what the keyboard or the pointer can reach, in tool bars too, but without navigation, rows of tables and tokens;
- words of interface: what is written around the figures, without claims, cards of the tour and texts for reading;
- figure: pixels above its uppermost figure, and at which tab stop the keyboard reaches it;
- bars: foreign tool bars that appear under the pointer, over all charts of the first screen;
- 150 %: the share of the height that is above the figure at 1920 × 1080 and 150 %.

`--of` takes a checkout of another version, `--present` opens the pages for an audience.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Error, Page, ViewportSize, expect, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.server import ROOT, serve
from tests.browser.watching import ready

LAPTOP: ViewportSize = {"width": 1280, "height": 800}
PROJECTOR: ViewportSize = {"width": 1280, "height": 720}  # 1920 × 1080 at 150 %
SETTLES, FADES = (
    1500,
    400,
)  # milliseconds: until figures are drawn and laid out, until a bar under the pointer is seen
MOST_STOPS = 150
# Charts as their own elements draw them, and tables that are a page's main figure.
CHARTS = ".stVegaLiteChart :is(svg.marks, canvas.marks), .stPlotlyChart .main-svg:first-child"
FIGURES = f"{CHARTS}, .scroll table, [data-testid=stDataFrame]"
# Functions for a page whose components may be in shadow trees; `figure` is its uppermost chart or table of some size.
PAGE = """
const all = (selector, root = document) => [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].flatMap((element) => element.shadowRoot ? all(selector, element.shadowRoot) : []),
];
const isSeen = (element, opacityProperty = false) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({ visibilityProperty: true, opacityProperty }) && box.width > 0 && box.height > 0
        && box.top < innerHeight && box.bottom > 0 && box.left < innerWidth;
};
const top = (element) => element.getBoundingClientRect().top;
const isLarge = (element) => element.clientWidth > 200 && element.getBoundingClientRect().height > 120;
const figure = all(FIGURES).filter((element) => isSeen(element, true) && isLarge(element)).sort((a, b) => top(a) - top(b))[0];
const inPage = (element) => element.getRootNode().host ? inPage(element.getRootNode().host) : element;
"""
MEASURE = """() => {
    const reached = [...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex]")].filter((element) =>
        !element.disabled && (element.tabIndex >= 0 || element.role === "radio") && isSeen(element)
        && !element.matches("[data-testid=stMain]") && !element.closest(".st-key-navigation"));
    const words = [];
    const uncounted = `.st-key-navigation, svg, style, td, tbody th, .tokens, .keys, .announced, .katex-mathml,
        [data-testid=stIconMaterial], [class*=st-key-claim_], [class*=st-key-tour_card], .st-key-lecture`;
    for (const parent of all("*").filter((element) => inPage(element).closest("[data-testid=stMain]") && isSeen(element, true)))
        for (const node of parent.closest(uncounted) ? [] : parent.childNodes) {
            const range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            const isWritten = node.nodeType === Node.TEXT_NODE && box.top < innerHeight && box.width > 1;
            if (isWritten) words.push(...(node.data.match(/\\p{L}[\\p{L}\\p{N}'’-]*/gu) ?? []));
        }
    return {
        tabs: document.querySelectorAll(".st-key-parts [role=radio]").length,
        controls: reached.length,
        words: words.length,
        top: figure ? Math.round(top(figure)) : null,
    };
}"""
HAS_FOCUS = """() => {
    const active = document.activeElement;
    if (!figure || active === document.body || active.matches("[data-testid=stMain]")) return false;
    const place = active.compareDocumentPosition(inPage(figure));
    return active === inPage(figure) || Boolean(place & (Node.DOCUMENT_POSITION_PRECEDING | Node.DOCUMENT_POSITION_CONTAINED_BY));
}"""
BARS = """() => [...document.querySelectorAll("[data-testid=stElementToolbar], .modebar")].filter((bar) => {
    for (let element = bar; element; element = element.parentElement)
        if (getComputedStyle(element).opacity < 0.05) return false;
    return bar.checkVisibility({ visibilityProperty: true }) && bar.getBoundingClientRect().width > 0
        && bar.querySelector("button, a");
}).length"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--of", type=Path, default=ROOT, metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="PAGE")
    parser.add_argument("--present", action="store_true")
    arguments = parser.parse_args()
    if not (path := chromium.find()):
        sys.exit(chromium.NONE_FOUND)
    expect.set_options(timeout=PATIENCE)
    tree = arguments.of.resolve()
    os.environ["PYTHONPATH"] = str(tree)
    names = sorted(page.parent.name for page in (tree / "app_pages").glob("*/page.py"))
    query = {"present": "1"} if arguments.present else {}
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        serve(Path(home), tree / "app.py") as address,
        playwright.chromium.launch(executable_path=path, args=FLAGS) as browser,
        browser.new_context(base_url=address) as context,
    ):
        context.set_default_timeout(PATIENCE)
        print("| page | tabs | controls | words | figure, px | tab stop | bars (charts) | 150 % |")
        print("| :-- | --: | --: | --: | --: | --: | --: | --: |")
        rows = []
        for name in names:
            if arguments.only in name:
                with context.new_page() as page:
                    rows.append(measured(page, name, query))
                print(line(name, rows[-1]), flush=True)
        if len(rows) > 1:
            keys = ("tabs", "bars", "charts")
            tabs, bars, charts = (sum(row[key] for row in rows) for key in keys)
            print(f"| all | {tabs} | | | | | {bars} ({charts}) | |")


def measured(page: Page, name: str, query: dict[str, str]) -> dict[str, Any]:
    """The numbers of one page, opened in a session of its own."""
    page.goto(f"/{'' if name == 'attention' else name}?{urlencode(query)}")
    page.set_viewport_size(PROJECTOR)
    settled(page)
    share = evaluated(page, MEASURE)["top"]
    page.set_viewport_size(LAPTOP)
    settled(page)
    result: dict[str, Any] = evaluated(page, MEASURE)
    result["share"] = None if share is None else share / PROJECTOR["height"]
    result["stops"] = None if result["top"] is None else tab_stops(page)
    charts = [chart for chart in page.locator(CHARTS).all() if is_on_screen(chart.bounding_box())]
    result |= {"charts": len(charts), "bars": 0}
    for chart in charts:
        chart.hover(force=True)
        page.wait_for_timeout(FADES)
        result["bars"] += page.evaluate(BARS)
    return result


def evaluated(page: Page, function: str) -> Any:
    """The result of a JavaScript function in the page."""
    return page.evaluate(f"() => {{ const FIGURES = {json.dumps(FIGURES)}; {PAGE} return ({function})(); }}")


def tab_stops(page: Page) -> int | None:
    """How often Tab must be pressed until the figure has the focus, by the shortest way, which uses skip links; None
    if it takes more than `MOST_STOPS`.
    """
    for number in range(1, MOST_STOPS):
        page.keyboard.press("Tab")
        if evaluated(page, HAS_FOCUS):
            return number
        if page.evaluate("document.activeElement.hash === '#figure'"):
            page.keyboard.press("Enter")
            if evaluated(page, HAS_FOCUS):
                return number
    return None


def settled(page: Page) -> None:
    """Waits until the page has stopped changing."""
    try:
        ready(page)
    except Error as error:
        print(error.message.splitlines()[0], file=sys.stderr)
    page.wait_for_timeout(SETTLES)


def is_on_screen(box: Any) -> bool:
    """Whether the box is on the first screen."""
    return box is not None and box["y"] + box["height"] / 2 < LAPTOP["height"] and box["height"] > 0


def line(name: str, result: dict[str, Any]) -> str:
    """The numbers of one page as a line of text."""
    share = "–" if result["share"] is None else f"{result['share']:.0%}"
    top, stops = ("–" if result[key] is None else result[key] for key in ("top", "stops"))
    numbers = f"{result['tabs']} | {result['controls']} | {result['words']} | {top} | {stops}"
    return f"| {name} | {numbers} | {result['bars']} ({result['charts']}) | {share} |"


if __name__ == "__main__":
    main()
