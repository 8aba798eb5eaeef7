"""How far things jump while somebody uses a page: what is recorded, and the gestures during which it is.

Chromium's own layout shift (https://web.dev/articles/cls) counts what moves within the window, weighted by how much of
the window that is: 0.1 in all is said to be good. Shifts right after a click are counted here too, since every gesture
is one. It sees neither a figure that is replaced by a smaller one nor what is moved by a transformation, so of one part of
the page its place and height are recorded beside it, frame by frame.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Page, expect

from tests.browser import linked_chart
from tests.browser.acting import choose, draw_stroke, mark, press, text_box
from tests.browser.watching import ready, visit

QUIET = 500  # milliseconds in which nothing of what is recorded changes: then the gesture is over
WINDOW = {"width": 1280, "height": 800}

# `recording` holds shifts and, frame by frame, the box of the largest element that the selector finds.
RECORDER = """
    window.recording = null;
    const containerOf = (node) => {
        const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
        const block = element?.closest?.("[class*=st-key-]");
        return block ? [...block.classList].find((name) => name.startsWith("st-key-")).slice(7) : "page";
    };
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
            if (recording === null || entry.startTime < recording.begun) continue;
            recording.changed = performance.now();
            recording.shift += entry.value;
            for (const { node, previousRect, currentRect } of entry.sources) {
                const by = Math.hypot(currentRect.x - previousRect.x, currentRect.y - previousRect.y);
                const name = containerOf(node);
                recording.where[name] = Math.max(recording.where[name] ?? 0, Math.round(by));
            }
        }
    }).observe({ type: "layout-shift", buffered: true });
    const largest = (selector) => {
        const seen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
        const boxes = [...document.querySelectorAll(selector)].filter(seen).map((one) => one.getBoundingClientRect());
        return boxes.sort((one, other) => other.height - one.height)[0] ?? { x: NaN, y: NaN, height: 0 };
    };
    window.record = (selector) => {
        const begun = performance.now();
        const { x, y, height } = largest(selector);
        const mine = { begun, changed: begun, shift: 0, where: {}, moved: 0, least: height, height };
        let last = JSON.stringify([x, y, height]);
        const look = () => {
            if (recording !== mine) return;
            const now = largest(selector);
            if (now.height) mine.moved = Math.max(mine.moved, Math.hypot(now.x - x, now.y - y));
            mine.least = Math.min(mine.least, now.height);
            const box = JSON.stringify([now.x, now.y, now.height]);
            const running = document.querySelector("[data-testid=stApp][data-test-script-state=running]");
            if (box !== last || running) mine.changed = performance.now();
            last = box;
            requestAnimationFrame(look);
        };
        recording = mine;
        requestAnimationFrame(look);
    };
"""


@dataclass
class Movement:
    """What jumped while something was recorded."""

    shift: float = 0.0  # the sum of Chromium's layout shifts
    where: dict[str, int] = field(default_factory=dict)  # pixels by the key of the container that moved
    moved: float = 0.0  # pixels, of what was watched from where it was
    lost: float = 0.0  # the share of its height that it lost at worst; 1 where it was away


@contextmanager
def recorded(page: Page, selector: str) -> Iterator[Movement]:
    """Fills what it yields at the end, once all is still. The window must have had `RECORDER` as its init script."""
    movement = Movement()
    page.evaluate("selector => record(selector)", selector)
    yield movement
    ready(page)
    page.wait_for_function(f"performance.now() - recording.changed > {QUIET}")
    made = page.evaluate("recording")
    movement.shift, movement.where, movement.moved = made["shift"], made["where"], made["moved"]
    movement.lost = 1 - made["least"] / made["height"]
    page.evaluate("recording = null")


@dataclass(frozen=True)
class Gesture:
    """`do` it on the page at `address`, after it was made ready by `before`; `watched` is a selector."""

    address: str
    watched: str
    do: Callable[[Page], None]
    before: Callable[[Page], None] | None = None

    def measure(self, page: Page) -> Movement:
        page.add_init_script(f"{{{RECORDER}}}")
        visit(page, self.address, **WINDOW)
        if self.before:
            self.before(page)
            ready(page)
        still(page, self.watched)
        with recorded(page, self.watched) as movement:
            self.do(page)
        return movement


def still(page: Page, selector: str) -> None:
    """Waits until what the selector finds is there and has stood still for a while."""
    page.locator(selector).first.wait_for()
    with recorded(page, selector):
        pass


def _head(page: Page) -> None:
    linked_chart.click_head(page, 2, 1)
    expect(page).to_have_url(re.compile("layer=2"))


def _head_of_overview(page: Page) -> None:
    press(page, mark(page, "overview", "L2 H1"))
    expect(page).to_have_url(re.compile("layer=2"))


def _row(page: Page) -> None:
    linked_chart.click_row(page, 3)
    expect(page).to_have_url(re.compile("query=3"))


def _token(page: Page) -> None:
    linked_chart.tokens(page).get_by_text("would").click()
    expect(page).to_have_url(re.compile("would"))


def _typing(page: Page) -> None:
    box = text_box(page)
    box.click()
    box.press("End")
    box.press_sequentially(" Yes")
    expect(page.get_by_test_id("InputInstructions")).to_be_visible()
    page.mouse.click(640, 790)


def _next_head(page: Page) -> None:
    choose(page, "Head", "1")
    expect(page).to_have_url(re.compile("head="))


def _to_sentence(page: Page) -> None:
    mark(page, "inside_input", "film").scroll_into_view_if_needed()


def _token_of_sentence(page: Page) -> None:
    press(page, mark(page, "inside_input", "film"))
    expect(page).to_have_url(re.compile("query=[^&]*film"))


def _open_view(page: Page) -> None:
    page.get_by_role("button", name="View", exact=True).click()
    page.get_by_role("button", name="DeepNorm", exact=True).hover()  # waits until the menu stands still


def _deep_norm(page: Page) -> None:
    page.get_by_role("button", name="DeepNorm", exact=True).click()
    expect(page.locator(".st-key-figure_hidden").get_by_text("DeepNorm").first).to_be_visible()


def _open_panel(page: Page) -> None:
    page.get_by_role("button", name="Choose or draw").click()
    page.locator(".st-key-canvas canvas").hover()  # waits until the panel stands still


def _mask(name: str) -> Callable[[Page], None]:
    """Chooses a kind of mask."""

    def choose_it(page: Page) -> None:
        choose(page, "Mask", name)
        expect(page).to_have_url(re.compile(f"masks_kind={name}"))

    return choose_it


KINDS = ".st-key-masks_kind"
CHART, TOKENS, PAGE = ".st-key-all_heads_chart canvas", ".st-key-linked_words", ".stMainBlockContainer"
GESTURES = {
    "Attention: first click on a head": Gesture("/", CHART, _head),
    "Attention: another head": Gesture("/?layer=1", CHART, _head),
    "Attention, lines: another head": Gesture(
        "/?view=lines&layer=1", ".st-key-lines svg.marks", _head_of_overview
    ),
    "Attention: a token": Gesture("/?layer=1", CHART, _token),
    "Attention: a row of the matrix": Gesture("/?layer=1", TOKENS, _row),
    "Attention: typing, and a click elsewhere": Gesture("/", CHART, _typing),
    "Inside a head: the next head": Gesture("/inside_a_head", PAGE, _next_head),
    "Inside a head: a token, far down": Gesture(
        "/inside_a_head?head=1", ".st-key-inside_input", _token_of_sentence, _to_sentence
    ),
    "Masks: Padding": Gesture("/masks", KINDS, _mask("Padding")),
    "Masks: None": Gesture("/masks", KINDS, _mask("None")),
    "Masks: None after Padding": Gesture("/masks?masks_kind=Padding", KINDS, _mask("None")),
    "Masks: Causal": Gesture("/masks", KINDS, _mask("Causal")),
    "Theory: one curve more": Gesture("/theory", PAGE, _deep_norm, before=_open_view),
    "Digit: the first stroke": Gesture(
        "/?kind=Digit&source=Draw", ".st-key-canvas", draw_stroke, _open_panel
    ),
}
