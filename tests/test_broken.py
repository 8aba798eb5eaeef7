"""The benchmarks of broken checkpoints and pictures: what they make can be made once more, and each kind changes something."""

import random
import shutil
from pathlib import Path

import pytest

from benchmarks.broken_pictures import KINDS as PICTURES
from benchmarks.broken_pictures import read
from benchmarks.mutations import KINDS, Case
from model.checkpoint import CHECKPOINTS

OWN = sorted(kind for kind, (_, on) in KINDS.items() if "own" in on)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", OWN)
def test_each_kind_changes_a_checkpoint_and_the_same_way_again(tmp_path, kind):
    whole = CHECKPOINTS / "mnist-pre-ln"
    made = []
    for attempt in ("first", "second"):
        folder = tmp_path / attempt
        shutil.copytree(whole, folder)
        KINDS[kind][0](Case(folder, tmp_path, random.Random("0 5")))
        made.append(contents(folder))
    assert made[0] != contents(whole)
    assert made[0].keys() == made[1].keys()


@pytest.mark.parametrize("kind", sorted(PICTURES))
def test_broken_pictures_are_read_or_refused_in_a_sentence(kind):
    content = PICTURES[kind](random.Random(f"0 {kind}"))
    assert content == PICTURES[kind](random.Random(f"0 {kind}"))
    assert read(content)["broke"] == ""
