"""python -m benchmarks.screenshots FOLDER [--of COMMIT] [--only PAGE]
python -m benchmarks.screenshots --compare BEFORE AFTER

Screenshots of the app as PNG files in FOLDER: every page, with a text and with a digit, and every option of its rows of
buttons and every switch, followed from page to page until nothing new is found; then some views that are chosen in lists.
The window is 1280 pixels wide and as high as the page. `--of` takes another commit of this repository. `--compare` prints
which screenshots of two folders differ, by how many pixels and where, and exits with 1 if any does.

What is measured while one looks (Theory) can differ from run to run.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image, ImageChops
from playwright.sync_api import Error, Page, ViewportSize, expect, sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS, PATIENCE
from tests.browser.server import ROOT, serve
from tests.browser.watching import ready

WINDOW: ViewportSize = {"width": 1280, "height": 800}
STILL = 400  # milliseconds between two screenshots that must be equal
ATTEMPTS = 12  # until a page that goes on moving is taken as it is
DIGIT = {"kind": "Digit"}
IN_LISTS = (
    ("attention", {"lens": "norm-weighted", "layer": "1"}),
    ("attention", {"lens": "residual and LayerNorm"}),
    ("attention", {"lens": "value zeroing", "layer": "1"}),
    ("attention", {"lens": "rollout"}),
    ("attention", {"lens": "gradient × attention"}),
    ("attention", {"text": "The film is [MASK] bad."}),
    ("attention", {"checkpoint": "imdb-article", "head": "2", "query": "3"}),
    ("attention", {"checkpoint": "looker", **DIGIT}),
    ("heads", {"heads_scatter": "true", "heads_across": "entropy"}),
    ("masks", {"masks_keys": "2"}),
    ("masks", {"masks_keys": "2", "masks_part": "What follows"}),
    ("masks", {"masks_keys": "2", "masks_part": "Ways of masking"}),
    ("masks", {"masks_keys": "9", **DIGIT}),
    ("compare", {"compare_part": "Heads", "compare_with": "imdb-article"}),
)
# Options that one can see: rows of buttons and switches, by the key that the address knows them by.
OPTIONS = """() => {
    const keyOf = (element) => {
        const block = element.closest("[class*=st-key-]");
        return [...block?.classList ?? []].find((name) => name.startsWith("st-key-"))?.slice(7);
    };
    const text = (element) => (element.querySelector("[data-testid=stMarkdownContainer]") ?? element).innerText.trim();
    const rows = [...document.querySelectorAll("[data-testid=stButtonGroup]")].flatMap((row) =>
        [...row.querySelectorAll("button:not([data-testid$=Active])")].map((button) => [keyOf(row), text(button)]));
    const switches = [...document.querySelectorAll("[data-testid=stCheckbox] input")].map((input) =>
        [keyOf(input), input.checked ? "false" : "true"]);
    return [...rows, ...switches].filter(([key, value]) => key && value);
}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--of", metavar="COMMIT")
    parser.add_argument("--only", default="", metavar="PAGE")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    arguments = parser.parse_args()
    if arguments.compare:
        return compare(*arguments.compare)
    if arguments.folder is None:
        parser.error("name the folder for the screenshots")
    with checkout(arguments.of) as tree:
        take_all(tree, arguments.folder, arguments.only)
    return 0


@contextmanager
def checkout(commit: str | None) -> Iterator[Path]:
    """The folder of the working tree, or a temporary checkout of the `commit`."""
    if commit is None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git = ("git", "-C", str(ROOT), "worktree")
        subprocess.run([*git, "add", "--detach", "--quiet", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def take_all(tree: Path, folder: Path, only: str) -> None:
    """Writes all screenshots of the app in `tree` to `folder`, and prints the address of each."""
    if not (executable := chromium.find()):
        sys.exit(chromium.NONE_FOUND)
    folder.mkdir(parents=True, exist_ok=True)
    pages = sorted(path.parent.name for path in (tree / "app_pages").glob("*/page.py"))
    os.environ["PYTHONPATH"] = str(tree)
    expect.set_options(timeout=PATIENCE)
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        serve(Path(home), tree / "app.py") as address,
        playwright.chromium.launch(executable_path=executable, args=FLAGS) as browser,
    ):
        for theme in ("light", "dark"):
            with browser.new_context(
                base_url=address, color_scheme=theme, reduced_motion="reduce"
            ) as context:
                context.set_default_timeout(PATIENCE)
                queue: deque[tuple[str, dict[str, str]]] = deque((page, {}) for page in pages)
                queue.extend(IN_LISTS if theme == "light" else [])
                seen: set[tuple[str, str, str, str]] = set()
                while queue:
                    name, query = queue.popleft()
                    if only not in name:
                        continue
                    with context.new_page() as page:
                        options = take(page, folder / theme, name, query)
                    for key, value in options if theme == "light" else []:
                        option = (name, query.get("kind", ""), key, value)
                        if option not in seen and (key != "kind" or "kind" not in query):
                            seen.add(option)
                            queue.append((name, query | {key: value}))


def take(page: Page, folder: Path, name: str, query: dict[str, str]) -> list[tuple[str, str]]:
    """Saves one screenshot; returns the key and the value of each option that the page offers."""
    address = f"/{'' if name == 'attention' else name}?{urlencode(query)}"
    folder.mkdir(exist_ok=True)
    try:
        page.set_viewport_size(WINDOW)
        page.goto(address)
        ready(page)
        still(page)
        options = page.evaluate(OPTIONS)
        height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({**WINDOW, "height": max(height, WINDOW["height"])})
        file = re.sub(
            r"[^\w=.-]+", "_", "__".join([name, *(f"{key}={value}" for key, value in query.items())])
        )
        (folder / f"{file[:200]}.png").write_bytes(still(page))
    except Error as error:
        print(f"{address}: {error.message.splitlines()[0]}", flush=True)
        return []
    print(address, flush=True)
    return options


def still(page: Page) -> bytes:
    """A screenshot as PNG, once two in a row are equal."""
    last = b""
    for _ in range(ATTEMPTS):
        now = page.screenshot(animations="disabled", caret="hide")
        if now == last:
            break
        last = now
        page.wait_for_timeout(STILL)
    return last


def compare(before: Path, after: Path) -> int:
    """Prints each screenshot that differs or is in one folder only; returns 1 if there is any."""
    names = [{path.relative_to(folder) for path in folder.rglob("*.png")} for folder in (before, after)]
    n_distinct_vectors = 0
    for name in sorted(names[0] | names[1]):
        if name not in names[0] & names[1]:
            difference = f"only in {before if name in names[0] else after}"
        else:
            difference = difference_of(before / name, after / name)
        if difference:
            print(f"{name}: {difference}")
            n_distinct_vectors += 1
    print(f"{len(names[0] | names[1])} screenshots, {n_distinct_vectors} differ")
    return int(n_distinct_vectors > 0)


def difference_of(before: Path, after: Path) -> str:
    """What is different between two images, in words; empty if nothing is."""
    with Image.open(before) as first, Image.open(after) as second:
        if first.size != second.size:
            return f"{first.size} became {second.size}"
        difference = ImageChops.difference(first.convert("RGB"), second.convert("RGB"))
    if not (box := difference.getbbox()):
        return ""
    changed = np.asarray(difference).max(axis=-1)
    where = f"x {box[0]} to {box[2]}, y {box[1]} to {box[3]}"
    return f"{np.count_nonzero(changed)} pixels by up to {changed.max()} of 255, in {where}"


if __name__ == "__main__":
    sys.exit(main())
