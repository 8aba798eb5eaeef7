"""Damaged and hostile checkpoints in the models folder: those of `benchmarks.mutations`, and pickles that would leave a trace."""

import asyncio
import random
import shutil
from pathlib import Path

from safetensors import SafetensorError

from benchmarks.addresses import FIGURES, pages
from benchmarks.broken_folders import INNER, WHOLE
from benchmarks.faults.promises import (
    NAMED_FOLDER,
    NOTHING_RUNS,
    ONE_SENTENCE,
    TOKENIZERS,
    WORDS_ARE_TEXT,
)
from benchmarks.faults.world import World
from benchmarks.load.browser_window import LOST, NoAnswerError
from benchmarks.load.servers import ROOT
from benchmarks.mutations import KINDS, Case

OWN = {"mnist-pre-ln": "Digit", "sentences-pre-ln-seed0": "Text", "sentences-post-ln-seed0": "Text"}
LINKS = ("links", "linked_folder")
LABELS = ("hostile_labels", "odd_labels", "own_labels", "history_of_words", "hostile_words", "hostile_prefix")
WEIGHTS, PICKLE = "model.safetensors", "pytorch_model.bin"


def pickled(trace: Path) -> bytes:
    """A pickle that makes a folder where it is opened: `os.mkdir(trace)`, in the oldest of its formats."""
    return f"cos\nmkdir\n(S{str(trace)!r}\ntR.".encode()


async def open_broken_checkpoints(world: World) -> None:
    draw, number, kinds = world.draw("checkpoints"), 0, kinds_by_promise()
    while world.goes_on:
        kind, number = draw.choice(draw.choice(list(kinds.values()))), number + 1
        if (made := await asyncio.to_thread(_changed, world, kind, number, draw)) is None:
            continue
        folder, name, reads = made
        promise = promise_of(kind)
        await _open(world, promise, name, reads, f"{kind} in {name}", draw)
        _remove(folder)
        await world.rest(draw)


def kinds_by_promise() -> dict[str, list[str]]:
    """The kinds of damage that try each promise."""
    kinds: dict[str, list[str]] = {}
    for kind in sorted(KINDS):
        kinds.setdefault(promise_of(kind), []).append(kind)
    return kinds


def promise_of(kind: str) -> str:
    if kind in LINKS:
        return NAMED_FOLDER
    if kind in LABELS:
        return WORDS_ARE_TEXT
    return TOKENIZERS if "text" in KINDS[kind][1] else ONE_SENTENCE


async def open_pickles(world: World) -> None:
    """Pickles as weights, under their own name and as safetensors; none may be opened, for the whole time."""
    trace, number = world.home / "trace-of-a-pickle", 0
    draw = world.draw("pickles")
    while world.goes_on:
        number += 1
        for name in (PICKLE, WEIGHTS):
            whole = draw.choice([*(world.home / "whole" / each for each in ("bert", "vit")), ROOT / "checkpoints" / "imdb-pre-ln"])  # fmt: skip
            folder = world.models / f"pickle-{number}"
            shutil.copytree(whole, folder)
            (folder / WEIGHTS).unlink()
            (folder / name).write_bytes(pickled(trace))
            await _open(
                world, NOTHING_RUNS, folder.name, "Text", f"{name} that is a pickle", draw, refused=True
            )
            _remove(folder)
        world.ledger.note(NOTHING_RUNS, "a pickle was opened" if trace.exists() else "")
        await asyncio.sleep(5)


async def _open(
    world: World, promise: str, name: str, reads: str, what: str, draw: random.Random, refused: bool = False
) -> None:
    """Opens an encoder on the first page and on another one."""
    for page in ("", draw.choice([page for page in pages() if page])):
        window = world.window(page, {"checkpoint": name, "kind": reads})
        try:
            answer = await window.open()
        except NoAnswerError as error:
            world.ledger.note(promise, f"{what} on /{page}: {error}")
            continue
        except LOST as error:
            if not world.lost_a_process:
                world.ledger.note(promise, f"{what} on /{page}: the connection was lost: {error}")
            continue
        finally:
            await window.close()
        world.judge(promise, answer, f"{what} on /{page}")
        if refused and not page:
            world.ledger.note(promise, "" if answer.of("alert") else f"{what}: there is no sentence")
        if not page and answer.of("alert") and not answer.of(*FIGURES):
            break


def _changed(world: World, kind: str, number: int, draw: random.Random) -> tuple[Path, str, str] | None:
    """A changed copy of an encoder: its folder, the name to open it by, and what it reads. None where it cannot be changed so."""
    function, on = KINDS[kind]
    own = [name for name in OWN if "own" in on or not on or (on == ("text",) and OWN[name] == "Text")]
    imported = [] if "own" in on else [name for name in WHOLE if not on or set(on) & set(WHOLE[name][1])]
    base = draw.choice([*own, *draw.sample(imported, min(3, len(imported)))])
    folder = world.models / f"{base}-{number}"
    shutil.copytree(ROOT / "checkpoints" / base if base in OWN else world.home / "whole" / base, folder)
    try:
        function(Case(folder, world.outside, draw))
    except (FileNotFoundError, LookupError, SafetensorError):  # it has no such file, tensor or value
        _remove(folder)
        return None
    reads = OWN.get(base) or ("Picture" if "picture" in WHOLE[base][1] else "Text")
    return folder, folder.name + INNER.get(base, ""), reads


def _remove(folder: Path) -> None:
    folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
