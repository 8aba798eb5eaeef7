"""What a process leaves behind when it is killed is deleted by the next one, and nothing else is."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.sources.upload_folders import PREFIX, delete_left_behind, new_upload_folder
from model.sources.uploads import MB, delete_all, upload, upload_named

SCRIPT = """
from model.sources.uploads import upload
made = upload([("config.json", b"{}"), ("a.safetensors", b"secret")], 99)
print(made.folder, flush=True)
input()
"""


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[tuple[subprocess.Popen, Path]]:
    """A process with an upload in `tmp_path`, and the folder of that upload."""
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(tmp_path)}) as process:  # fmt: skip
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    delete_all()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    delete_all()


def test_only_the_uploads_of_a_process_that_has_ended_are_deleted(killed, here: Path) -> None:
    process, folder = killed
    mine = upload([("config.json", b"{}"), ("a.safetensors", b"mine")], MB)
    other = here / f"{PREFIX}of-somebody-else"
    other.mkdir()  # without a lock
    delete_left_behind()
    assert (folder / "a.safetensors").read_bytes() == b"secret"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert folder.exists()
    delete_left_behind()
    assert not folder.parent.exists()
    assert upload_named(mine.name) is mine
    assert (mine.folder / "a.safetensors").read_bytes() == b"mine"
    assert other.is_dir()


def test_a_link_in_the_place_of_a_folder_is_not_followed(here: Path) -> None:
    (here / "kept").mkdir()
    (here / "kept" / "lock").touch()
    (here / f"{PREFIX}link").symlink_to(here / "kept")
    delete_left_behind()
    assert (here / "kept" / "lock").exists()


def test_all_are_deleted_and_the_next_upload_has_a_new_folder(here: Path) -> None:
    first = new_upload_folder()
    delete_all()
    assert not list(here.iterdir())
    second = new_upload_folder()
    assert second.is_dir()
    assert second.parent != first.parent
