"""Damaged and hostile checkpoints in the models folder: those of `benchmarks.mutations`, and pickles that would make a folder."""

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
from benchmarks.load.servers import ROOT
from benchmarks.mutations import KINDS, Case

OWN = {"mnist-pre-ln": "Digit", "sentences-pre-ln-seed0": "Text", "sentences-post-ln-seed0": "Text"}
LINKS = ("links", "linked_folder")
LABELS = ("hostile_labels", "odd_labels", "own_labels", "history_of_words", "hostile_words", "hostile_prefix")
WEIGHTS, PICKLE = "model.safetensors", "pytorch_model.bin"


def pickled(trace: Path) -> bytes:
    """A pickle that makes the folder `trace` when it is unpickled, in the oldest of the pickle formats."""
    return f"cos\nmkdir\n(S{str(trace)!r}\ntR.".encode()


async def open_broken_checkpoints(world: World) -> None:
    """Opens damaged checkpoints one after the other; each must show a page or a sentence."""
    draw, number, kinds = world.draw("checkpoints"), 0, kinds_by_promise()
    while world.goes_on:
        kind, number = draw.choice(draw.choice(list(kinds.values()))), number + 1
        if (copy := await asyncio.to_thread(_damaged_copy, world, kind, number, draw)) is None:
            continue
        folder, name, input_kind = copy
        promise = promise_of(kind)
        await _open(world, promise, name, input_kind, f"{kind} in {name}", draw)
        _remove(folder)
        await world.rest(draw)


def kinds_by_promise() -> dict[str, list[str]]:
    """The kinds of damage in lists, by the promise that each tests."""
    kinds: dict[str, list[str]] = {}
    for kind in sorted(KINDS):
        kinds.setdefault(promise_of(kind), []).append(kind)
    return kinds


def promise_of(kind: str) -> str:
    """The promise that a kind of damage tests."""
    if kind in LINKS:
        return NAMED_FOLDER
    if kind in LABELS:
        return WORDS_ARE_TEXT
    return TOKENIZERS if "text" in KINDS[kind][1] else ONE_SENTENCE


async def open_pickles(world: World) -> None:
    """Opens checkpoints whose weights are a pickle, named as one or as safetensors; none may ever be unpickled."""
    trace, number = world.home / "trace-of-a-pickle", 0
    draw = world.draw("pickles")
    while world.goes_on:
        number += 1
        for name in (PICKLE, WEIGHTS):
            source = draw.choice([*(world.home / "whole" / name for name in ("bert", "vit")), ROOT / "checkpoints" / "imdb-pre-ln"])  # fmt: skip
            folder = world.models / f"pickle-{number}"
            shutil.copytree(source, folder)
            (folder / WEIGHTS).unlink()
            (folder / name).write_bytes(pickled(trace))
            await _open(
                world,
                NOTHING_RUNS,
                folder.name,
                "Text",
                f"{name} that is a pickle",
                draw,
                must_be_refused=True,
            )
            _remove(folder)
        world.ledger.record(NOTHING_RUNS, "a pickle was unpickled" if trace.exists() else "")
        await asyncio.sleep(5)


async def _open(
    world: World, promise: str, name: str, input_kind: str, damage: str, draw: random.Random, must_be_refused: bool = False,
) -> None:  # fmt: skip
    """Opens an encoder on the first page and, unless that refused it, on another page."""
    for page in ("", draw.choice([page for page in pages() if page])):
        action, is_refused = f"{damage} on /{page}", False
        async with world.visit(promise, action, page, {"checkpoint": name, "kind": input_kind}) as window:
            answer = await window.open()
            world.check(promise, answer, action)
            if must_be_refused and not page:
                world.ledger.record(promise, "" if answer.of("alert") else f"{damage}: there is no sentence")
            is_refused = bool(answer.of("alert")) and not answer.of(*FIGURES)
        if is_refused:
            break


def _damaged_copy(world: World, kind: str, number: int, draw: random.Random) -> tuple[Path, str, str] | None:
    """A damaged copy of an encoder: its folder, the name to open it by, and its kind of input.

    None if this kind of damage cannot be done to the encoder that was drawn.
    """
    damage, applies_to = KINDS[kind]
    own = [name for name in OWN if not applies_to or "own" in applies_to or (applies_to == ("text",) and OWN[name] == "Text")]  # fmt: skip
    imported = [] if "own" in applies_to else [name for name in WHOLE if not applies_to or set(applies_to) & set(WHOLE[name][1])]  # fmt: skip
    base = draw.choice([*own, *draw.sample(imported, min(3, len(imported)))])
    folder = world.models / f"{base}-{number}"
    shutil.copytree(ROOT / "checkpoints" / base if base in OWN else world.home / "whole" / base, folder)
    try:
        damage(Case(folder, world.outside, draw))
    except (FileNotFoundError, LookupError, SafetensorError):  # it has no such file, tensor or value
        _remove(folder)
        return None
    input_kind = OWN.get(base) or ("Picture" if "picture" in WHOLE[base][1] else "Text")
    return folder, folder.name + INNER.get(base, ""), input_kind


def _remove(folder: Path) -> None:
    folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
