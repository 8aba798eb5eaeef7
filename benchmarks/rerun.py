"""python -m benchmarks.rerun [--against FOLDER] [--rounds 7] [--live]

What a change on a page costs the server, in processor time of the script, page by page: the median of some changes
after the first run. With `--against`, a checkout of another version makes the same changes in turn with this one,
and the last column is the ratio. `--live` starts the server and clicks in Chromium: how long Streamlit then
collects garbage after a run, with everything imported that the app imports.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

ROOT = Path(__file__).parents[1]
TEXT, DIGIT = {"checkpoint": "imdb-pre-ln"}, {"kind": "Digit", "checkpoint": "mnist-pre-ln"}
HEADS = [{"layer": 1, "head": at % 4, "query": 2 + at} for at in range(12)]

# name: page, the address it is opened with, what changes from run to run
CASES: dict[str, tuple[str, dict, list[dict]]] = {
    "Attention": ("attention", TEXT, HEADS),
    "Attention, digit": ("attention", DIGIT, HEADS),
    "Masks, step by step": ("masks", TEXT | {"masks_keys": "2"}, HEADS),
    "Masks, what follows": ("masks", TEXT | {"masks_keys": "2", "masks_part": "What follows"}, HEADS),
    "Masks, ways": ("masks", TEXT | {"masks_keys": "2", "masks_part": "Ways of masking"}, HEADS),
    "Masks, digit": ("masks", DIGIT | {"masks_keys": "9"}, HEADS),
    "Positions, sinusoids": ("positions", TEXT, [{"positions_t": 3 + at} for at in range(12)]),
    "Positions, this checkpoint": (
        "positions",
        DIGIT | {"positions": "This checkpoint"},
        [{"positions_own_patch": at} for at in range(12)],
    ),
    "Positions, experiments": ("positions", TEXT | {"positions": "Experiments"}, HEADS),
    "Inside a head, steps": ("inside_a_head", TEXT, HEADS),
    "Inside a head, why the scale": ("inside_a_head", TEXT | {"inside": "Why √d_k"}, HEADS),
    "Heads, table": ("heads", TEXT, HEADS),
    "Heads, scatter": ("heads", TEXT | {"heads_part": "Scatter"}, HEADS),
    "Compare, heads": ("compare", TEXT, HEADS),
    "Compare, difference": ("compare", TEXT | {"compare_part": "Difference"}, HEADS),
    "Compare, stream": ("compare", TEXT | {"compare_part": "Stream"}, HEADS),
    "Compare, representations": ("compare", TEXT | {"compare_part": "Representations"}, HEADS),
    "Theory, warm-up": ("theory", {"theory_part": "Learning rate and warm-up"}, HEADS),
    "Training, film": ("training", DIGIT, [{"training_probe": (1 + at) % 2} for at in range(12)]),
    "Training, histories": ("training", DIGIT | {"training": "histories"}, HEADS),
    "Cost": ("cost", {}, [{"cost_d_model": 64 * (2 + at)} for at in range(12)]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--rounds", type=int, default=7, choices=range(1, len(HEADS) + 1))
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name begins so")
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
        workers = [stack.enter_context(worker(folder)) for folder in folders]
        for name in filter(lambda name: name.startswith(arguments.only), CASES):
            page, query, changes = CASES[name]
            seconds: list[list[float]] = [[] for _ in workers]
            for change in [None, *changes[: arguments.rounds]]:
                for ask, taken in zip(workers, seconds, strict=True):
                    taken.append(ask({"page": page, "query": query} if change is None else {"set": change}))
            medians = [median(taken[1:]) for taken in seconds]
            ratio = f"{medians[0] / medians[1]:8.2f}" if len(medians) > 1 else ""
            print(f"{name:32}" + "".join(f"{1e3 * one:8.0f} ms" for one in medians) + ratio, flush=True)


@contextmanager
def worker(folder: Path) -> Iterator[object]:
    """A process that runs the app of `folder`; what it yields sends one order and returns the seconds it took."""
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

    def ask(order: dict) -> float:
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith("took "):
                return float(line.split()[1])
        raise RuntimeError(f"the app of {folder.name} ended at {order}")

    try:
        yield ask
    finally:
        process.stdin.close()
        process.wait()


def work() -> None:
    """Obeys the orders of standard input: opens a page, or changes what its widgets hold, and runs it."""
    from importlib import import_module
    from time import thread_time

    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    former = Path("app_pages/frame.py").exists()  # versions before app_pages had folders
    frame = import_module("app_pages.frame" if former else "app_pages.shell.frame")
    draw, took = frame.draw_page, []

    def timed() -> None:
        start = thread_time()
        try:
            draw()
        finally:
            took.append(thread_time() - start)

    frame.draw_page = timed
    app = None
    for line in sys.stdin:
        order = json.loads(line)
        if "page" in order:
            app = AppTest.from_file(str(Path.cwd() / "app.py"), default_timeout=120)
            app._page_hash = calc_hash("" if order["page"] == "attention" else order["page"])
            for key, value in order["query"].items():
                app.query_params[key] = value
        else:
            for key, value in order["set"].items():
                app.session_state[key] = value
        app.run()
        if app.exception:
            raise RuntimeError(f"{order}: {app.exception[0].value}")
        print(f"took {took[-1]}", flush=True)


def collections(folder: Path, clicks: int = 6) -> float:
    """Median seconds of a whole collection of garbage while heads are chosen on a live server of `folder`."""
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
            page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
            page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
            page.wait_for_timeout(
                2000
            )  # whatever is still imported ahead, and the collection after the first run
            log.write_text("")
            for click in range(1, clicks + 1):
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
