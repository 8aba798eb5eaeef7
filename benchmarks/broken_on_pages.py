"""python -m benchmarks.broken_on_pages [--own 1000] [--imported 300] [--seed 0] [--minutes M] [--only NUMBER] [--tell]

Opens damaged checkpoints on every page of the running app, over the websocket that a browser would use: copies of the
project's own (weights, configuration, tokenizer, history, film, and the other files beside them), and imported folders of
every family, each changed by one of the functions of `benchmarks.mutations`. Each page is opened once: the first one as it
is, the others in a part drawn at random. A checkpoint that the first page refuses is not opened on the others.

The rule is that of `benchmarks.addresses`. The exit code is 1 where a checkpoint breaks it. `--only NUMBER` opens one
checkpoint again (the numbers of imported folders follow those of the project's own), and `--tell` prints the texts of the
pages.
"""

import argparse
import asyncio
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import SafetensorError

from benchmarks.addresses import FIGURES, broken, pages, texts
from benchmarks.broken_folders import WHOLE, build, in_child
from benchmarks.load.browser_window import LOST, NoAnswerError, Window
from benchmarks.load.servers import HOST, ROOT, Process
from benchmarks.mutations import KINDS, Case

PATIENCE = 60  # seconds for one page
OWN = {
    "mnist-pre-ln": "picture",
    "mnist-post-ln": "picture",
    "sentences-pre-ln-seed0": "text",
    "sentences-post-ln-seed0": "text",
}
LINKED = (
    "app.py",
    "app_pages",
    "model",
    "viz",
    "examples",
    "docs",
    ".streamlit",
)  # a copy of the app has checkpoints of its own
KIND = {"picture": "Digit", "text": "Text"}
View = tuple[str, dict[str, str]]


@dataclass
class OpenedCheckpoint:
    """One damaged checkpoint: on how many views it was opened, and on which it broke the rule."""

    number: int
    name: str
    outcome: str = ""
    views: int = 0
    broke: dict[str, str] = field(default_factory=dict)  # how it broke the rule: the page where it first did
    slowest: float = 0.0

    def __str__(self) -> str:
        return f"{self.number}: {self.name}\n    " + "\n    ".join(
            f"{where}: {what}" for what, where in self.broke.items()
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--own", type=int, default=1000)
    parser.add_argument("--imported", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="stop then, and report what was opened"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER")
    parser.add_argument("--tell", action="store_true")
    arguments = parser.parse_args()
    numbers = range(arguments.own + arguments.imported) if arguments.only is None else [arguments.only]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch).resolve()
        if any(number >= arguments.own for number in numbers):
            (home / "whole").mkdir()
            in_child(lambda: build(home), seconds=600, memory=None)
        make_app(home)
        os.environ["LOUPE_MODELS"] = str(home / "models")
        process = Process(home, "process", ["--client.showErrorDetails=full"], home / "app")
        try:
            results = asyncio.run(open_all(home, process.port, numbers, arguments))
            return report(results, process)
        finally:
            process.stop()


def make_app(home: Path) -> None:
    """Makes a copy of the app in `home`, with the project's own checkpoints to damage."""
    for folder in (home / "app" / "checkpoints", home / "models", home / "outside"):
        folder.mkdir(parents=True, exist_ok=True)
    for name in LINKED:
        (home / "app" / name).symlink_to(ROOT / name)
    for name in OWN:
        shutil.copytree(ROOT / "checkpoints" / name, home / "app" / "checkpoints" / name)
    (home / "outside" / "secret.txt").write_text("nobody may see this")


async def open_all(
    home: Path, port: int, numbers: list[int] | range, arguments: argparse.Namespace
) -> list[OpenedCheckpoint]:
    """Damages the checkpoints with these `numbers`, one after the other, and opens each on all pages."""
    server = f"http://{HOST}:{port}"
    views = {
        what: await survey(server, name, what)
        for what, name in {what: name for name, what in OWN.items()}.items()
    }
    print("; ".join(f"{len(item)} views of {what} encoders" for what, item in views.items()), flush=True)
    results: list[OpenedCheckpoint] = []
    until = time.monotonic() + 60 * arguments.minutes
    for number in numbers:
        if time.monotonic() > until:
            break
        draw = random.Random(f"{arguments.seed} {number}")
        made = None
        while made is None:  # not every change can be made to every encoder
            made = damaged_own(home, draw) if number < arguments.own else damaged_imported(home, draw)
        kind, name, what, folder = made
        result = OpenedCheckpoint(number, f"{kind} in {name}")
        await open_one(server, home, result, name, chosen(views[what], what, draw), arguments.tell)
        _remove(folder)
        if number < arguments.own:
            shutil.copytree(ROOT / "checkpoints" / name, folder)
        results.append(result)
        if result.broke:
            print(result, flush=True)
        if len(results) % 20 == 0:
            print(f"{len(results):,} checkpoints, {sum(item.views for item in results):,} views", flush=True)
    return results


def damaged_own(home: Path, draw: random.Random) -> tuple[str, str, str, Path] | None:
    """Damages a copy of one of the project's own checkpoints: the kind of damage, the checkpoint's name, its kind of
    input, and its folder; None if this damage cannot be done to it.
    """
    name = draw.choice(sorted(OWN))
    folder = home / "app" / "checkpoints" / name
    alone = draw.random() < 0.6  # what only folders of this format have
    kinds = [
        k
        for k, (_, on) in KINDS.items()
        if "own" in on or (not alone and (not on or (on == ("text",) and OWN[name] == "text")))
    ]
    kind = draw.choice(sorted(kinds))
    if _was_changed(kind, Case(folder, home / "outside", draw)):
        return kind, name, OWN[name], folder
    _remove(folder)
    shutil.copytree(ROOT / "checkpoints" / name, folder)
    return None


def damaged_imported(home: Path, draw: random.Random) -> tuple[str, str, str, Path] | None:
    """Damages a copy of an imported encoder folder; returns the same as `damaged_own`."""
    kind = draw.choice(sorted(kind for kind, (_, on) in KINDS.items() if "own" not in on))
    on = KINDS[kind][1]
    base = draw.choice([base for base, (_, are, _) in WHOLE.items() if not on or set(on) & set(are)])
    name = f"{base}-{draw.randrange(10**6)}"
    folder = home / "models" / name
    shutil.copytree(home / "whole" / base, folder)
    what = "picture" if "picture" in WHOLE[base][1] else "text"
    if _was_changed(kind, Case(folder, home / "outside", draw)):
        return kind, name, what, folder
    _remove(folder)
    return None


def _was_changed(kind: str, case: Case) -> bool:
    """Does the damage `kind`, and returns whether it could be done to this folder."""
    try:
        KINDS[kind][0](case)
    except (FileNotFoundError, LookupError):  # it has no such file, tensor or value
        return False
    except SafetensorError:  # names of 100 MB, which nobody can store
        return False
    return True


def _remove(folder: Path) -> None:
    folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)


async def survey(server: str, name: str, what: str) -> list[View]:
    """The views of one checkpoint, whose kind of input is `what`: every page as it is, and with each option of each
    of its rows of buttons.
    """
    views_found: list[View] = []
    for page in pages():
        query = {"checkpoint": name, "kind": KIND[what]}
        window = Window(server, page, query, patience=PATIENCE)
        await window.open()
        keys = {getattr(item.element, "query_param_key", ""): item for item in window.widgets.values()}
        await window.close()
        views_found.append((page, {}))
        for key, widget in keys.items():
            if widget.kind == "button_group" and key and key != "kind":
                views_found += [(page, {key: option.content}) for option in widget.element.options]
    return views_found


def chosen(views: list[View], what: str, draw: random.Random) -> Iterator[View]:
    """One random view of each page, beginning with the first page as it is."""
    for page in pages():
        query = draw.choice([query for view_page, query in views if view_page == page]) if page else {}
        yield page, query | {"kind": KIND[what]}


async def open_one(
    server: str, home: Path, result: OpenedCheckpoint, name: str, views: Iterator[View], tell: bool
) -> None:
    """Opens one damaged checkpoint in all `views`, and records in `result` what breaks the rule; `tell` prints all
    texts of the pages.
    """
    for page, query in views:
        window = Window(server, page, query | {"checkpoint": name}, patience=PATIENCE)
        where = f"/{page} {' '.join(query.values())}"
        result.views += 1
        try:
            answer = await window.open()
        except NoAnswerError as error:
            result.broke.setdefault(str(error), where)
            continue
        except LOST as error:
            result.broke.setdefault(f"the connection was lost: {error}"[:300], where)
            break
        finally:
            await window.close()
        result.slowest = max(result.slowest, answer.seconds)
        for what in broken(answer, home):
            result.broke.setdefault(what, where)
        if tell:
            print(
                where, *(text[:300] for text in texts(answer) if not text.startswith("<style")), sep="\n    "
            )
        if result.views == 1 and answer.of("alert") and not answer.of(*FIGURES):
            result.outcome = "refused in a sentence"
            break
    else:
        result.outcome = "opened on every page"
    if result.broke:
        result.outcome = "broke the rule"


def report(results: list[OpenedCheckpoint], process: Process) -> int:
    """Prints how many checkpoints had each outcome, and which broke the rule; returns the exit code."""
    if not results:
        print("nothing was opened")
        return 1
    print(f"\n{len(results):,} checkpoints, {sum(result.views for result in results):,} views:")
    for outcome, n in Counter(result.outcome for result in results).most_common():
        print(f"  {n:6,} {outcome}")
    slowest = max(results, key=lambda result: result.slowest)
    print(f"slowest {slowest.slowest:.1f} s (number {slowest.number}, {slowest.name})")
    print(", ".join(f"{what} {mb:,.0f} MB" for what, mb in process.memory().items()))
    tracebacks = Counter(line[:200] for line in process.tracebacks())
    for line, times in tracebacks.most_common(10):
        print(f"{times} × in the server's log: {line}")
    if not process.is_up:
        print("the server ended before it was told to")
    return int(not process.is_up or bool(tracebacks) or any(result.broke for result in results))


if __name__ == "__main__":
    sys.exit(main())
