"""python -m benchmarks.rerun [--against FOLDER] [--rounds 7] [--only NAME ...] [--live]

What a change on a page costs the server, in processor time of the script, page by page: the median over some changes
after the first run. With `--against`, a checkout of another version makes the same changes in turn with this one, and
the last column is the ratio; a case is "not comparable" if one of the two versions cannot make a change, or shows the
same before and after it. `--live` starts the server, clicks in Chromium, and measures how long Streamlit then
collects garbage after a run, with everything imported that the app imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:  # the process that only compares does not import Streamlit
    from streamlit.testing.v1 import AppTest

Order = Callable[[dict], float]  # sends an order to a version, returns seconds

ROOT = Path(__file__).parents[1]
TEXT, DIGIT = {"checkpoint": "imdb-pre-ln"}, {"kind": "Digit", "checkpoint": "mnist-pre-ln"}
MASKED = TEXT | {"masks_keys": "2"}
ALL_HEADS = ".st-key-all_heads_chart"  # on Attention
MOST_ROUNDS = 12
ROUNDS = range(MOST_ROUNDS)
HEADS = [{"layer": 1, "head": number % 4, "query": 2 + number} for number in ROUNDS]
ADJECTIVES = (
    "long",
    "short",
    "warm",
    "cold",
    "loud",
    "quiet",
    "funny",
    "sad",
    "good",
    "bad",
    "great",
    "dull",
)
TEXTS = [{"text": f"A {adjective} film that I would gladly watch again."} for adjective in ADJECTIVES]
ENCODERS = [{"checkpoint": ("imdb-post-ln", "imdb-pre-ln")[number % 2]} for number in ROUNDS]

# name: page, the address it is opened with, what changes from run to run
CASES: dict[str, tuple[str, dict[str, str], Sequence[Mapping[str, str | int]]]] = {
    "Attention": ("attention", TEXT, HEADS),
    "Attention, digit": ("attention", DIGIT, HEADS),
    "Attention, another text": ("attention", TEXT, TEXTS),
    "Attention, another encoder": ("attention", TEXT, ENCODERS),
    "Inside a head, steps": ("inside_a_head", TEXT, HEADS),
    "Inside a head, why the scale": (
        "inside_a_head",
        {"inside": "Why √d_k"},
        [{"inside_d_k": 8 + number} for number in ROUNDS],
    ),
    "Heads, table": ("heads", TEXT, HEADS),
    "Heads, scatter": ("heads", TEXT | {"heads_scatter": "true"}, HEADS),
    "Masks, step by step": ("masks", MASKED, HEADS),
    "Masks, what follows": ("masks", MASKED | {"masks_part": "What follows"}, HEADS),
    "Masks, ways": ("masks", MASKED | {"masks_part": "Ways of masking"}, HEADS),
    "Masks, digit": ("masks", DIGIT | {"masks_keys": "9"}, HEADS),
    "Positions, sinusoids": ("positions", TEXT, [{"positions_t": 3 + number} for number in ROUNDS]),
    "Positions, this encoder": (
        "positions",
        DIGIT | {"positions": "This encoder"},
        [{"query": 1 + number} for number in ROUNDS],
    ),
    "Positions, experiments": ("positions", TEXT | {"positions": "Experiments"}, HEADS),
    "Side by side, heads": ("compare", TEXT, HEADS),
    "Side by side, difference": ("compare", TEXT | {"compare_view": "difference"}, HEADS),
    "Side by side, stream": ("compare", TEXT | {"compare_part": "Stream"}, TEXTS),
    "Side by side, representations": (
        "compare",
        TEXT | {"compare_part": "Stream", "compare_stream": "representations"},
        TEXTS,
    ),
    "Theory, before training": ("theory", {}, [{"theory_depth": 4 + number} for number in ROUNDS]),
    "Training, recording": (
        "training",
        DIGIT,
        [{"training_probe": (1 + number) % 2} for number in ROUNDS],
    ),
    "Cost": ("cost", {}, [{"cost_d_model": 64 * (2 + number)} for number in ROUNDS]),
}


class NotComparableError(Exception):
    """A version has no such page, cannot take the change, or shows the same after it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=7, choices=range(1, MOST_ROUNDS + 1))
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--only", nargs="+", default=[""], help="cases whose name begins with one of these")
    parser.add_argument("--work-in", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work_in:
        work()
        return
    folders = [ROOT, *([arguments.against.resolve()] if arguments.against else [])]
    if arguments.live:
        for folder in folders:
            print(f"{folder.name}: {1e3 * collections(folder):.1f} ms of garbage collection after a run")
        return
    with ExitStack() as stack:
        workers = {folder: stack.enter_context(worker(folder)) for folder in folders}
        for name in filter(lambda name: name.startswith(tuple(arguments.only)), CASES):
            print(f"{name:32}{compare(workers, name, arguments.rounds)}", flush=True)


def compare(workers: dict[Path, Order], name: str, rounds: int) -> str:
    """The median milliseconds of each version in the case `name`, and their ratio, as text; or why they cannot be
    compared.
    """
    page, query, changes = CASES[name]
    orders: list[dict] = [{"page": page, "query": query}, *({"set": change} for change in changes[:rounds])]
    seconds: dict[Path, list[float]] = {folder: [] for folder in workers}
    for order in orders:
        for folder, send in workers.items():
            try:
                seconds[folder].append(send(order))
            except NotComparableError as error:
                return f"     not comparable, {folder.name}: {error}"
    medians = [median(of_version[1:]) for of_version in seconds.values()]
    ratio = f"{medians[0] / medians[1]:8.2f}" if len(medians) > 1 else ""
    return "".join(f"{1e3 * middle:8.0f} ms" for middle in medians) + ratio


@contextmanager
def worker(folder: Path) -> Iterator[Order]:
    """Starts a process that runs the app of `folder`; yields a function that sends it one order and returns the
    seconds it took.

    The function raises NotComparableError if that version cannot follow the order; the process then accepts further
    orders.
    """
    command = [sys.executable, str(Path(__file__).resolve()), "--work-in", str(folder)]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None

    def send(order: dict) -> float:
        """Sends one order and returns the seconds it took."""
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        for line in stdout:
            kind, _, answer = line.rstrip().partition(" ")
            if kind == "took":
                return float(answer)
            if kind == "refused":
                raise NotComparableError(answer)
        raise RuntimeError(f"the app of {folder} ended at {order}")

    try:
        yield send
    finally:
        stdin.close()
        process.wait()


def work() -> None:
    """Runs in the process of `worker`: follows the orders on standard input, each to open a page or to set widgets
    and run it.
    """
    from time import thread_time

    from app_pages.shell import frame

    draw = frame.draw_page
    times: list[float] = []

    def timed() -> None:
        start = thread_time()
        try:
            draw()
        finally:
            times.append(thread_time() - start)

    frame.draw_page = timed
    app, shown = None, ""
    for line in sys.stdin:
        order = json.loads(line)
        if "page" in order:
            app, shown = opened(order["page"], order["query"]), ""
        elif app is not None:
            for key, value in order["set"].items():
                app.session_state[key] = value
        if app is None:
            print(f"refused it has no page {order.get('page', '')}", flush=True)
            continue
        try:
            app.run()
        except RuntimeError as error:  # it takes too long
            print(f"refused {error}", flush=True)
            continue
        before, shown = shown, drawn(app)
        if app.exception:
            print(f"refused {' '.join(app.exception[0].value.split())}", flush=True)
        elif shown == before:
            print(f"refused {order['set']} changes nothing", flush=True)
        else:
            print(f"took {times[-1]}", flush=True)


def opened(page: str, query: dict[str, str]) -> AppTest | None:
    """The app at this address, before its first run; None if it has no such page."""
    from streamlit.testing.v1 import AppTest

    if not Path("app_pages", page).exists():
        return None
    app = AppTest.from_file(str(Path.cwd() / "app.py"), default_timeout=120)
    if page != "attention":
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"{page}.py")
            file.touch()
            app.switch_page(str(file))  # before the first run it knows a page by the name of a file alone
    for key, value in query.items():
        app.query_params[key] = value
    return app


def drawn(app: AppTest) -> str:
    """A hash of all that the page shows."""
    texts = (str(getattr(element, "proto", "")) for element in app._tree)
    return sha256("".join(texts).encode()).hexdigest()


def collections(folder: Path, clicks: int = 6) -> float:
    """The median seconds of one full garbage collection while heads are chosen on a live server of `folder`."""
    from playwright.sync_api import sync_playwright

    from tests.browser import chromium
    from tests.browser.conftest import FLAGS
    from tests.browser.server import serve

    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        log = Path(home, "collections")
        Path(home, "sitecustomize.py").write_text(_NOTE_COLLECTIONS.format(str(log)), encoding="utf-8")
        os.environ["PYTHONPATH"] = f"{home}{os.pathsep}{folder}"
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=FLAGS)
        with serve(Path(home), folder / "app.py") as address:
            page = browser.new_page()
            page.goto(f"{address}/?{urlencode(TEXT)}")
            page.locator(f".js-plotly-plot .main-svg, {ALL_HEADS} canvas").first.wait_for(timeout=60_000)
            page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
            # Whatever is still imported ahead, and the collection after the first run.
            page.wait_for_timeout(2000)
            log.write_text("")
            for click in range(1, clicks + 1):
                page.locator(ALL_HEADS).focus()
                page.keyboard.press("ArrowRight")
                while len(log.read_text().split()) < click:  # a run ends with a collection
                    page.wait_for_timeout(20)
        browser.close()
        return median(map(float, log.read_text().split()))


_NOTE_COLLECTIONS = """
import gc, time

begun = []

def note(phase, info):
    if info["generation"] == 2:
        if phase == "start":
            begun.append(time.perf_counter())
        elif begun:
            with open({!r}, "a") as log:
                print(time.perf_counter() - begun.pop(), file=log)

gc.callbacks.append(note)
"""


if __name__ == "__main__":
    main()
