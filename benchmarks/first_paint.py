"""python -m benchmarks.first_paint [--starts 5]

What somebody waits for after `streamlit run app.py`: the prediction, the overview of all heads, and the last
chart of the first page, each also as a ratio to the first line of an app that has nothing else. Medians, from
the server's start to the paint in a Chromium that is already open. Read the ratios, the times drift. A first
start, in which Python compiles the modules, is not counted.
"""

import argparse
import json
import os
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

APP = Path(__file__).parents[1] / "app.py"
LANDMARKS = {
    "prediction": ".st-key-answer [data-testid=stMetric]",
    "all heads": "[class*=st-key-overview] svg.marks",
    "one head": ".st-key-detail .js-plotly-plot .main-svg",
}
ONE_LINE = {"one line": "[data-testid=stText]"}

# notes in `seen` when each landmark is first there at the beginning of a frame
LOOK_OUT = """
    window.seen = {};
    const look = () => {
        for (const [name, selector] of Object.entries(landmarks))
            if (!(name in seen) && document.querySelector(selector)) seen[name] = Date.now();
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--starts", type=int, default=5)
    n_starts = parser.parse_args().starts
    path = chromium.find()
    if not path:
        sys.exit(chromium.NONE_FOUND)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        nearly_empty = Path(folder, "nearly_empty.py")
        nearly_empty.write_text('import streamlit as st\n\nst.text("one line")\n', encoding="utf-8")
        seconds: dict[str, list[float]] = {name: [] for name in (*ONE_LINE, *LANDMARKS)}
        for start in range(n_starts + 1):
            for app, landmarks in ((nearly_empty, ONE_LINE), (APP, LANDMARKS)):
                browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
                for name, taken in paint(browser, app, landmarks).items():
                    if start:
                        seconds[name].append(taken)
                browser.close()
    floor = median(seconds["one line"])
    for name, taken in seconds.items():
        print(f"{name:12}{median(taken):6.1f} s{median(taken) / floor:8.2f}")


def paint(browser: Browser, app: Path, landmarks: Mapping[str, str]) -> dict[str, float]:
    """Seconds from the server's start until each landmark stands, as the page itself sees it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        app,
        "--server.headless=true",
        f"--server.port={port}",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.time()
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not _answers(f"{address}/_stcore/health"):
            if server.poll() is not None:
                sys.exit(f"streamlit run {app} ended before it answered")
            time.sleep(0.02)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.add_init_script(f"const landmarks = {json.dumps(landmarks)};{LOOK_OUT}")
        page.goto(address)
        page.wait_for_function("n => Object.keys(seen).length == n", arg=len(landmarks))
        return {name: at / 1000 - start for name, at in page.evaluate("seen").items()}
    finally:
        server.terminate()
        server.wait()


def _answers(address: str) -> bool:
    try:
        return urllib.request.urlopen(address, timeout=1).status == 200
    except OSError:  # refused, or too slow on a busy machine
        return False


if __name__ == "__main__":
    main()
