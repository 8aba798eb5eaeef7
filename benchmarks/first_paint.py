"""python -m benchmarks.first_paint [--starts 5] [--states later first nothing]

How long a reader waits after `streamlit run app.py` for the prediction, and for the overview of all heads, each as a
ratio to the wait for the first line of an app that has nothing else. Measured in seconds from the server's start to
the paint in a Chromium that is already open. The two apps are started in turn, and each ratio is that of one pair of
starts, since the times of a machine drift.

Printed are medians, and the smallest and largest ratio, for three states of the files:

later    Python has compiled all modules, as of every start but the first
first    the app's own modules are not compiled: the first start after `make run`, where pip compiled what it installed
nothing  no module of anything is compiled, as where files were copied without what was compiled of them
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS

ROOT = Path(__file__).parents[1]
SERVED = ("app.py", "app_pages", "model", "viz", "checkpoints", "examples", "docs", ".streamlit")
STATES = ("later", "first", "nothing")
# By name, what the page has once it is there, as an expression of the browser.
ONE_LINE = {"one line": "document.querySelector('[data-testid=stText]')"}
LANDMARKS = {
    "prediction": "document.querySelector('.st-key-answer [data-testid=stMetric]')",
    "all heads": "drawn.some(canvas => canvas.closest('.st-key-all_heads_chart'))",
}

# Notes in `seen` when each landmark is first there at the beginning of a frame. The small maps are pictures, which Vega
# draws on its canvas once they are decoded: before it the chart is empty.
LOOK_OUT = """
    window.seen = {};
    const drawn = [];
    const draw = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (...all) {
        if (!drawn.includes(this.canvas)) drawn.push(this.canvas);
        return draw.apply(this, all);
    };
    const look = () => {
        for (const [name, isThere] of Object.entries(landmarks))
            if (!(name in seen) && isThere()) seen[name] = Date.now();
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--states", nargs="+", choices=STATES, default=STATES)
    options = parser.parse_args()
    path = chromium.find()
    if not path:
        sys.exit(chromium.NONE_FOUND)
    print(f"{'':10}{'':12}{'median':>9}{'ratio':>8}{'from':>8}{'to':>7}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        nearly_empty = Path(folder, "one_line", "app.py")
        nearly_empty.parent.mkdir()
        nearly_empty.write_text('import streamlit as st\n\nst.text("one line")\n', encoding="utf-8")
        app = copy_of_the_app(Path(folder, "app"))
        for state in options.states:
            seconds: dict[str, list[float]] = {name: [] for name in (*ONE_LINE, *LANDMARKS)}
            for start in range(options.starts + (state == "later")):
                for script, landmarks in ((nearly_empty, ONE_LINE), (app, LANDMARKS)):
                    prepare(script.parent, state)
                    browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
                    compiled = Path(folder, "compiled") if state == "nothing" else None
                    times = paint(browser, script, landmarks, compiled)
                    browser.close()
                    for name, taken in times.items():
                        if start or state != "later":  # in the first one the modules are compiled
                            seconds[name].append(taken)
                    if compiled:
                        shutil.rmtree(compiled)
            for name, taken in seconds.items():
                ratios = [one / floor for one, floor in zip(taken, seconds["one line"], strict=True)]
                print(
                    f"{state:10}{name:12}{median(taken):7.2f} s{median(ratios):8.2f}{min(ratios):8.2f}{max(ratios):7.2f}",
                    flush=True,
                )


def copy_of_the_app(folder: Path) -> Path:
    """Copies the files of the app, without compiled modules, and returns the path of its script."""
    folder.mkdir()
    for name in SERVED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    return folder / "app.py"


def prepare(folder: Path, state: str) -> None:
    """Deletes the compiled files of the app's own modules if the `state` needs that."""
    if state == "first":
        for compiled in [*folder.rglob("__pycache__")]:
            shutil.rmtree(compiled)


def paint(
    browser: Browser, app: Path, landmarks: Mapping[str, str], compiled: Path | None = None
) -> dict[str, float]:
    """Seconds from the server's start until each of the `landmarks` is on the page, by name, as the page itself sees
    it; a landmark is a JavaScript expression.

    Python reads and writes compiled modules in the folder `compiled`, by default beside the sources.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        app.name,
        "--server.headless=true",
        f"--server.port={port}",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if compiled:
        environment["PYTHONPYCACHEPREFIX"] = str(compiled)
    start = time.time()
    server = subprocess.Popen(
        command, cwd=app.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _answers(f"{address}/_stcore/health"):
            if server.poll() is not None:
                sys.exit(f"streamlit run {app} ended before it answered")
            time.sleep(0.02)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        tests = ", ".join(f"{json.dumps(name)}: () => {test}" for name, test in landmarks.items())
        page.add_init_script(f"const landmarks = {{{tests}}};{LOOK_OUT}")
        page.goto(address)
        page.wait_for_function("n => Object.keys(seen).length == n", arg=len(landmarks), timeout=120_000)
        return {name: milliseconds / 1000 - start for name, milliseconds in page.evaluate("seen").items()}
    finally:
        server.terminate()
        server.wait()


def _answers(address: str) -> bool:
    """Whether a server answers at this address."""
    try:
        return urllib.request.urlopen(address, timeout=1).status == 200
    except OSError:  # refused, or too slow on a busy machine
        return False


if __name__ == "__main__":
    main()
