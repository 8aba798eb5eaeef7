"""Checkpoints are replaced while windows show them: as folders, file by file, and written over in place.

A window opens the encoder with a text that nobody has opened, while it is replaced, and saves the record. The record names
the weights by their hash: what it holds must be what exactly those weights compute, and where nothing was replaced meanwhile
they must be the ones that are there. Written over in place there is half a file for a moment: that is a sentence.
"""

import asyncio
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors.torch import load_file, save_file

from benchmarks.faults.promises import REPLACED
from benchmarks.faults.world import World
from benchmarks.load.browser_window import LOST, NoAnswerError
from model import checkpoint
from model.capture import capture
from model.loaded import Loaded
from model.record import ForwardRecord
from model.record.record_file import from_bytes

WEIGHTS = "model.safetensors"
WORDS = (
    "gripping",
    "dull",
    "film",
    "no",
    "plot",
    "great",
    "actors",
    "slow",
    "music",
    "loved",
    "hated",
    "bad",
    "good",
    "not",
)
ALIKE = {"rtol": 1e-3, "atol": 1e-3}


@dataclass
class Replaced:
    """An encoder in the models folder, and its two versions: folders with the same files but other weights."""

    folder: Path
    versions: tuple[Path, Path]
    now: int = 0
    times: int = 0  # how often it was replaced
    hashes: dict[str, Loaded] = field(default_factory=dict)  # of weights: the encoder with them

    def __post_init__(self) -> None:
        self.hashes = {checkpoint.weights_hash(each): checkpoint.load(each, "cpu") for each in self.versions}

    @property
    def hash_now(self) -> str:
        return list(self.hashes)[self.now]

    def replace(self, how: Callable[[Path, Path], None]) -> None:
        how(self.versions[1 - self.now], self.folder)
        self.now, self.times = 1 - self.now, self.times + 1


def whole_folder(new: Path, folder: Path) -> None:
    """As `model.checkpoint.save` does."""
    beside, old = (folder.with_name(f".{folder.name}-{what}") for what in ("new", "gone"))
    shutil.copytree(new, beside)
    folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old)


def one_file(new: Path, folder: Path) -> None:
    """As `rsync` does."""
    beside = folder / f".{WEIGHTS}"
    shutil.copyfile(new / WEIGHTS, beside)
    beside.replace(folder / WEIGHTS)


def in_place(new: Path, folder: Path) -> None:
    """As `cp` does: the file is empty first, and grows."""
    shutil.copyfile(new / WEIGHTS, folder / WEIGHTS)


WAYS = (whole_folder, one_file, in_place)


def make_versions(whole: Path, folder: Path, scratch: Path) -> Replaced:
    """A copy of the checkpoint `whole` at `folder`, and in `scratch` another one in which each weight is a little smaller."""
    versions = scratch / f"{folder.name}-first", scratch / f"{folder.name}-second"
    for each in (*versions, folder):
        shutil.copytree(whole, each)
    tensors = load_file(whole / WEIGHTS)
    save_file({name: (0.9 * each).to(each.dtype) for name, each in tensors.items()}, versions[1] / WEIGHTS)
    (versions[1] / WEIGHTS).chmod(0o644)  # safetensors lets nobody but the owner read what it wrote
    return Replaced(folder, versions)


async def replace_checkpoints(world: World, encoders: list[Replaced]) -> None:
    draw = world.draw("replaced")
    while world.goes_on:
        encoder = draw.choice(encoders)
        replacing = asyncio.create_task(_replace(encoder, draw))
        try:
            await _open(world, encoder, " ".join(draw.choices(WORDS, k=8)))
        except LOST as error:
            if not world.lost_a_process:
                world.ledger.note(REPLACED, f"the connection was lost: {error}")
        except NoAnswerError as error:
            world.ledger.note(REPLACED, str(error))
        await replacing
        await world.rest(draw)


async def _replace(encoder: Replaced, draw: random.Random) -> None:
    """None, one or two times, in the second that it takes to open the page."""
    for _ in range(draw.choice((0, 1, 1, 2))):
        await asyncio.sleep(draw.random())
        await asyncio.to_thread(encoder.replace, draw.choice(WAYS))


async def _open(world: World, encoder: Replaced, text: str) -> None:
    window = world.window("", {"checkpoint": encoder.folder.name, "text": text})
    before = encoder.times, encoder.hash_now
    try:
        answer = await window.open()
        world.judge(REPLACED, answer, "the page of an encoder that is replaced")
        if "download_record" not in window.widgets:
            said = [each.body for each in answer.of("alert")]
            world.ledger.note(REPLACED, "" if said else "neither a figure nor a sentence")
            return
        try:
            file = await window.download("download_record")
        except ValueError as error:
            if encoder.times == before[0] and not world.lost_a_process:
                world.ledger.note(REPLACED, str(error))
            return
    finally:
        await window.close()
    opened = from_bytes(file.content, file.name)
    if not isinstance(opened.record, ForwardRecord) or opened.settings["checkpoint"] != encoder.folder.name:
        return  # the encoder was not there for a moment, and a sentence said so
    expected = before[1] if encoder.times == before[0] else ""
    failure = await asyncio.to_thread(
        mixed_up, opened.record, opened.settings, encoder.hashes, text, expected
    )
    world.ledger.note(REPLACED, failure)


def mixed_up(
    record: ForwardRecord, settings: dict, hashes: dict[str, Loaded], text: str, expected: str
) -> str:
    """Whether the record is not what the weights that it names compute, or not of those that are `expected`; "" if it is."""
    named = settings["weights_sha256"]
    if named not in hashes:
        return "it names weights that were never there"
    if expected and named != expected:
        return "it is of weights that were replaced before"
    true = capture(hashes[named], text)
    alike = np.allclose(record.logits, true.logits, **ALIKE) and np.allclose(
        record.residual, true.residual, **ALIKE
    )
    return "" if alike else "it is not what the weights that it names compute"
