"""python -m benchmarks.layout_shift [--of FOLDER] [--only NAME] [--rounds 3]

How much jumps on the page at each of some gestures: the sum of Chromium's layout shifts, those right after a click
included; how far the part that is looked at moved; the share of its height that it lost meanwhile, 100 % where it
was away; and which containers the shifts were in, by how many pixels. The worst of some rounds, each in a fresh session. `--of` takes a
checkout of another version.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import BrowserContext, expect, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.layout_shift_recorder import GESTURES, Gesture, Movement
from tests.browser.server import ROOT, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--of", type=Path, default=ROOT, metavar="FOLDER")
    parser.add_argument("--only", default="", help="gestures whose name contains this")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if not (path := chromium.find()):
        sys.exit(chromium.NONE_FOUND)
    expect.set_options(timeout=PATIENCE)
    print(f"{'gesture':42}{'shift':>7}{'moved':>9}{'lost':>7}  where")
    os.environ["PYTHONPATH"] = str(arguments.of.resolve())
    script = arguments.of.resolve() / "app.py"
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        serve(Path(home), script) as address,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        context = browser.new_context(base_url=address)
        context.set_default_timeout(PATIENCE)
        for name, gesture in GESTURES.items():
            if arguments.only in name:
                print(line(name, [measured(context, gesture) for _ in range(arguments.rounds)]), flush=True)
        browser.close()


def measured(context: BrowserContext, gesture: Gesture) -> Movement:
    """What one gesture moves on the page, in a session of its own."""
    with context.new_page() as page:
        return gesture.measure(page)


def line(name: str, rounds: list[Movement]) -> str:
    """The worst of several rounds of one gesture, as a line of text."""
    shift, moved, lost = (max(getattr(one, what) for one in rounds) for what in ("shift", "moved", "lost"))
    where = max(rounds, key=lambda one: one.shift).where
    places = ", ".join(f"{key} {by} px" for key, by in sorted(where.items(), key=lambda item: -item[1])[:4])
    return f"{name:42}{shift:7.3f}{moved:6.0f} px{lost:7.0%}  {places}"


if __name__ == "__main__":
    main()
