import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from model.files.content import (
    LEFT_BEHIND,
    new_folder,
    read_as,
    read_bounded,
    replace_text,
    replacement_file,
)
from model.schema import Count
from tests.full_disk import FULL, full_after
from tests.model import tiny


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path):
    path = tmp_path / "it"
    path.write_bytes(b"x" * 2**20)
    assert read_bounded(path, 2**20) == b"x" * 2**20
    path.write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(ValueError, match=r"^it is larger than 1 MB$"):
        read_bounded(path, 2**20)


def test_what_is_not_there_is_told_from_what_is_not_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ValueError, match=r"^it is not a file$"):
            read_bounded(tmp_path / name, 100)
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_bounded(tmp_path / "nothing", 100)


def test_what_is_replaced_is_read_again(tmp_path):
    path = tmp_path / "folder" / "numbers.json"
    assert read_as(path, list[Count]) is None
    for text, numbers in (("[1, 2]", [1, 2]), ("[4]", [4])):
        replace_text(path, text)
        assert read_as(path, list[Count]) == numbers
    assert [entry.name for entry in path.parent.iterdir()] == ["numbers.json"]


@pytest.mark.parametrize("text", ["", "[", "[-1]", '{"a": 1}', "[" * 100_000, '["\\ud800"]', "[1.5]"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "numbers.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{tmp_path.name}/numbers.json cannot be read: ") as refused:
        read_as(path, list[Count])
    assert "\n" not in str(refused.value)


N = 5000
WAYS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("new" * N),
    "safetensors": lambda path: save_file({"new": np.zeros(N)}, path),
    "tokenizers": lambda path: tiny.tokenizer(12).save(str(path)),
    "parquet": lambda path: pq.write_table(pa.table({"new": np.random.default_rng(0).random(N)}), path),
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("room", [0, 500])
def test_on_a_full_disk_the_old_file_stays_and_the_error_is_the_systems(tmp_path, way, room):
    path = tmp_path / "it"
    path.write_text("old")
    with full_after(room), pytest.raises(OSError, match=FULL) as caught, replacement_file(path) as beside:
        WAYS[way](beside)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["it"]


@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_takes_the_place_of_the_old_file(tmp_path, way):
    path = tmp_path / "it"
    path.write_text("old")
    with replacement_file(path) as beside:
        WAYS[way](beside)
        assert path.read_text() == "old"
    assert path.stat().st_size > 500
    assert names(tmp_path) == ["it"]


def test_a_link_leads_to_the_file_and_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "it").symlink_to(tmp_path / "far" / "file")
    with replacement_file(tmp_path / "it") as beside:
        beside.write_text("new")
    assert (tmp_path / "it").is_symlink()
    assert (tmp_path / "far" / "file").read_text() == "new"


def test_a_device_is_written_to_and_stays_one():
    with replacement_file(Path(os.devnull)) as beside:
        assert beside == Path(os.devnull)


def test_after_any_error_nothing_is_left(tmp_path):
    def half(path: Path) -> None:
        path.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), replacement_file(tmp_path / "it") as beside:
        half(beside)
    assert names(tmp_path) == []


# Folders


def test_a_folder_that_is_not_moved_is_deleted(tmp_path):
    with full_after(10), pytest.raises(OSError, match=FULL), new_folder(tmp_path / "it") as new:
        (new / "file").write_text("new" * N)
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_deleted_and_what_another_one_fills_is_not(tmp_path):
    killed, others, notes = (tmp_path / name for name in (".it-a1_b2c3d", ".it-somewhere", ".it-my_notes"))
    (killed / "new").mkdir(parents=True)
    (killed / "new" / "model.safetensors").write_bytes(b"half")
    (others / "notes").mkdir(parents=True)
    notes.mkdir()
    (notes / "mine.txt").touch()  # named like one, and holds something else
    long_ago = time.time() - 2 * LEFT_BEHIND
    for folder in (killed, others, notes):
        os.utime(folder, (long_ago, long_ago))
    with new_folder(tmp_path / "it") as first:
        (first / "file").touch()
        with new_folder(tmp_path / "it") as second:
            second.rename(tmp_path / "it")
        assert names(first) == ["file"]
    assert names(tmp_path) == [".it-my_notes", ".it-somewhere", "it"]
