"""Replaces checkpoints while windows show them: the folder, one file, or the content of a file in place.

A window opens the encoder with a new text while it is replaced, and downloads the record. The record names the weights by
their hash: its contents must be what exactly those weights compute, and if nothing was replaced meanwhile they must be the
current ones. A file that is overwritten in place is incomplete for a moment: then the page must show one sentence.
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
from model import checkpoint
from model.capture import capture
from model.loaded import Loaded
from model.record import ForwardRecord
from model.record.record_file import from_bytes

WEIGHTS = "model.safetensors"
WORDS = [
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
]
TOLERANCES = {"rtol": 1e-3, "atol": 1e-3}


@dataclass
class Replaced:
    """An encoder in the models folder that is replaced again and again by one of its two versions: folders with the
    same files but other weights.
    """

    folder: Path
    versions: tuple[Path, Path]
    current: int = 0  # index of the version in the folder
    n_replaced: int = 0
    hashes: dict[str, Loaded] = field(default_factory=dict)  # the encoders by the hash of their weights

    def __post_init__(self) -> None:
        self.hashes = {
            checkpoint.weights_hash(version): checkpoint.load(version, "cpu") for version in self.versions
        }

    @property
    def current_hash(self) -> str:
        """The hash of the weights that the encoder has now."""
        return list(self.hashes)[self.current]

    def replace(self, replace: Callable[[Path, Path], None]) -> None:
        """Replaces the encoder by its other version; `replace` does so in one of the `WAYS`."""
        replace(self.versions[1 - self.current], self.folder)
        self.current, self.n_replaced = 1 - self.current, self.n_replaced + 1


def whole_folder(new: Path, folder: Path) -> None:
    """Replaces the folder, as `model.checkpoint.save` does."""
    temporary, old = (folder.with_name(f".{folder.name}-{version}") for version in ("new", "old"))
    shutil.copytree(new, temporary)
    folder.rename(old)
    temporary.rename(folder)
    shutil.rmtree(old)


def one_file(new: Path, folder: Path) -> None:
    """Replaces the file of the weights by a complete one, as `rsync` does."""
    temporary = folder / f".{WEIGHTS}"
    shutil.copyfile(new / WEIGHTS, temporary)
    temporary.replace(folder / WEIGHTS)


def in_place(new: Path, folder: Path) -> None:
    """Overwrites the file of the weights in place, as `cp` does: it is empty first, and grows."""
    shutil.copyfile(new / WEIGHTS, folder / WEIGHTS)


WAYS = (whole_folder, one_file, in_place)


def make_versions(source: Path, folder: Path, scratch: Path) -> Replaced:
    """Copies the checkpoint `source` to `folder`, and two versions of it to `scratch`: in the second all weights are
    multiplied by 0.9.
    """
    versions = scratch / f"{folder.name}-first", scratch / f"{folder.name}-second"
    for target in (*versions, folder):
        shutil.copytree(source, target)
    tensors = load_file(source / WEIGHTS)
    save_file(
        {name: (0.9 * tensor).to(tensor.dtype) for name, tensor in tensors.items()}, versions[1] / WEIGHTS
    )
    (versions[1] / WEIGHTS).chmod(0o644)  # safetensors writes files that only their owner can read
    return Replaced(folder, versions)


async def replace_checkpoints(world: World, encoders: list[Replaced]) -> None:
    draw = world.draw("replaced")
    while world.goes_on:
        encoder = draw.choice(encoders)
        replacing = asyncio.create_task(_replace(encoder, draw))
        await _open(world, encoder, " ".join(draw.choices(WORDS, k=8)))
        await replacing
        await world.rest(draw)


async def _replace(encoder: Replaced, draw: random.Random) -> None:
    """Replaces the encoder up to twice in the seconds in which the page is opened."""
    for _ in range(draw.choice((0, 1, 1, 2))):
        await asyncio.sleep(draw.random())
        await asyncio.to_thread(encoder.replace, draw.choice(WAYS))


async def _open(world: World, encoder: Replaced, text: str) -> None:
    """Opens the encoder with a new text while it is replaced, and checks the downloaded record."""
    action = "the page of an encoder that is replaced"
    n_replaced_before, hash_before = encoder.n_replaced, encoder.current_hash
    file = None
    async with world.visit(
        REPLACED, action, query={"checkpoint": encoder.folder.name, "text": text}
    ) as window:
        answer = await window.open()
        world.check(REPLACED, answer, action)
        if "download_record" not in window.widgets:
            world.ledger.record(REPLACED, "" if answer.of("alert") else "neither a figure nor a sentence")
            return
        try:
            file = await window.download("download_record")
        except ValueError:  # the record is made now: the encoder may be incomplete at this moment
            if encoder.n_replaced == n_replaced_before:
                raise
    if file is None:
        return
    opened = from_bytes(file.content, file.name)
    if not isinstance(opened.record, ForwardRecord) or opened.settings["checkpoint"] != encoder.folder.name:
        return  # the encoder was missing for a moment, and a sentence said so
    expected = hash_before if encoder.n_replaced == n_replaced_before else ""
    failure = await asyncio.to_thread(
        record_error, opened.record, opened.settings, encoder.hashes, text, expected
    )
    world.ledger.record(REPLACED, failure)


def record_error(
    record: ForwardRecord, settings: dict, hashes: dict[str, Loaded], text: str, expected: str
) -> str:
    """The error of a record in words: it names weights that never existed, or others than `expected` (a hash, "" for
    any), or its contents are not what these weights compute. "" without an error.
    """
    weights = settings["weights_sha256"]
    if weights not in hashes:
        return "it names weights that were never there"
    if expected and weights != expected:
        return "it is of weights that were replaced before"
    computed = capture(hashes[weights], text)
    is_equal = all(
        np.allclose(getattr(record, name), getattr(computed, name), **TOLERANCES)
        for name in ("logits", "residual")
    )
    return "" if is_equal else "it is not what the weights that it names compute"
