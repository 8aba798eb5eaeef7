import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.sources.uploads import (
    MB,
    PREFIX,
    delete_all,
    delete_left_behind,
    upload,
    upload_named,
)
from tests.full_disk import FULL, full_after

CONFIG, WEIGHTS = ("config.json", b'{"model_type": "bert"}'), ("model.safetensors", b"weights")


def kept(*files: tuple[str, bytes]) -> dict[str, bytes]:
    made = upload(files, MB)
    paths = (path for path in made.folder.rglob("*") if path.is_file())
    return {str(path.relative_to(made.folder)): path.read_bytes() for path in paths}


def test_the_files_lie_in_a_folder_of_their_own_until_it_is_deleted():
    made, other = upload([CONFIG, WEIGHTS], MB), upload([CONFIG, WEIGHTS], MB)
    assert (made.folder / "model.safetensors").read_bytes() == b"weights"
    assert made.n_bytes == len(CONFIG[1]) + len(WEIGHTS[1])
    assert made.folder != other.folder
    assert (made.folder.stat().st_mode & 0o077) == 0
    assert re.fullmatch("upload:bert-[0-9a-f]{16}", made.name)
    assert made.name != other.name
    made.delete()
    assert not made.folder.exists()
    assert upload_named(made.name) is None
    assert upload_named(other.name) is other


def test_what_is_uploaded_goes_with_the_process():
    script = "from model.sources.uploads import upload; print(upload([('config.json', b'{}'), ('a.safetensors', b'')], 9).folder)"
    folder = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert "loupe-" in folder
    assert not Path(folder.strip()).exists()


def test_names_of_files_decide_which_of_the_known_ones_they_are():
    files = (
        ("my-bert/config.json", CONFIG[1]),
        ("my-bert/1_Pooling/config.json", b"pooling"),
        ("my-bert\\model-00001-of-00002.safetensors", b"one"),
        ("../../../etc/tokenizer.json", b"tokens"),
        ("/etc/vocab.txt", b"vocab"),
        ("sentencepiece.bpe (1).model", b"pieces"),
        ("other.model", b"no"),
        ("passwd", b"no"),
        ("README.md", b"no"),
        (".safetensors", b"no"),
        ("a;b.safetensors", b"no"),
        ("modeling.py", b"no"),
    )
    assert kept(*files) == {
        "config.json": CONFIG[1],
        "1_Pooling/config.json": b"pooling",
        "model-00001-of-00002.safetensors": b"one",
        "tokenizer.json": b"tokens",
        "vocab.txt": b"vocab",
        "sentencepiece.bpe.model": b"pieces",
    }
    assert upload(files, MB).name.startswith("upload:my-bert-")


@pytest.mark.parametrize(
    ("file", "called"),
    [
        ("my-bert/config.json", "my-bert"),
        ("../config.json", "encoder"),
        ("<b>&/config.json", "b"),
        ("[a](b)/config.json", "a-b"),
        ("\u202e/config.json", "encoder"),
        (f"{'x' * 300}/config.json", "x" * 40),
        ("größer/config.json", "größer"),
    ],
)
def test_an_upload_is_called_as_its_folder(file, called):
    assert upload([(file, b"{}"), WEIGHTS], MB).name.rpartition("-")[0] == f"upload:{called}"


def test_the_configuration_of_the_pooling_is_known_without_its_folder():
    pooling = b'{"pooling_mode_mean_tokens": true}'
    assert kept(CONFIG, WEIGHTS, ("config (1).json", pooling))["1_Pooling/config.json"] == pooling


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ((CONFIG,), "the weights are missing: model.safetensors"),
        ((WEIGHTS,), "config.json is missing: it describes the model"),
        ((), "config.json is missing: it describes the model"),
        ((CONFIG, WEIGHTS, WEIGHTS), "model.safetensors was chosen twice"),
        (
            (CONFIG, ("pytorch_model.bin", b"")),
            "pytorch_model.bin is a pickle, which can run code when it is loaded, so it is not read",
        ),
        (
            (CONFIG, ("model.safetensors", bytes(3 * MB))),
            "these files are 3 MB; at most 1 MB more may be uploaded",
        ),
    ],
)
def test_what_makes_no_encoder_is_refused(files, why):
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        upload(files, MB)


def test_damaged_json_is_left_to_whoever_opens_it():
    assert kept(("config.json", b"\xff["), WEIGHTS)["config.json"] == b"\xff["
    assert kept(("config.json", b"[" * 100_000), WEIGHTS)
    assert kept(("config.json", b'{"_name_or_path": 3, "model_type": []}'), WEIGHTS)


def test_where_the_disk_is_full_nothing_stays_and_one_sentence_says_so(tmp_path, monkeypatch):
    delete_all()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with full_after(100), pytest.raises(ValueError, match=f"^the server cannot store these files: {FULL}$"):
        upload([CONFIG, ("model.safetensors", bytes(1000))], MB)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "lock"]
    assert upload([CONFIG, WEIGHTS], MB).n_bytes
    delete_all()


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


def test_only_the_uploads_of_a_process_that_has_ended_are_deleted(killed, here):
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


def test_a_link_in_the_place_of_a_folder_is_not_followed(here):
    (here / "kept").mkdir()
    (here / "kept" / "lock").touch()
    (here / f"{PREFIX}link").symlink_to(here / "kept")
    delete_left_behind()
    assert (here / "kept" / "lock").exists()


def test_all_are_deleted_where_the_server_ends_and_the_next_upload_has_a_new_folder(here):
    both = [upload([CONFIG, WEIGHTS], MB) for _ in range(2)]
    delete_all()
    assert not list(here.iterdir())
    assert not [one for one in both if upload_named(one.name)]
    delete_all()
    assert upload([CONFIG, WEIGHTS], MB).folder.parent != both[0].folder.parent
