"""The command `attention-loupe`: what it hands on, and what it refuses. tests/browser/test_command.py starts it."""

import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from loupe import __main__ as command
from model.sources import locations
from tests.refused import refused

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _no_root() -> Iterator[None]:
    yield
    locations.use_models_folder(None)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Calls the command, in an empty folder, with these arguments."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def called(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", [command.PROGRAM, *arguments])
        command.main()

    return called


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "no checkpoint 'nowhere'; there are imdb-article, "),
        (("checkpoints",), r"checkpoints/config\.json cannot be read: there is no such file"),
        (("imdb-pre-ln", "--picture", "a.png"), "imdb-pre-ln reads text"),
        (("mnist-pre-ln", "--picture", "a.png"), r"No such file or directory: a\.png"),
        (("--port", "99999"), "port 99999 is taken or not allowed: choose another one with --port"),
        (("capture", "nowhere", "--text", "a", "--out", "a.npz"), "no checkpoint 'nowhere'"),
        (("evaluate", "nowhere"), "no checkpoint 'nowhere'"),
        (("atlas", "nowhere"), "no checkpoint 'nowhere'"),
        (("export", "nowhere.npz", "--out", "a.html"), "No such file|no file"),
        (("convert", "nowhere"), "No such file or directory: nowhere"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(call, capsys, arguments, message):
    Path("checkpoints").mkdir()
    name = f"{command.PROGRAM} {arguments[0]}" if arguments[0] in command.COMMANDS else command.PROGRAM
    with refused(capsys, f"^{name}: .*{message}"):
        call(*arguments)


def test_a_port_that_is_taken_is_refused(call, capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with refused(capsys, f"^attention-loupe: port {port} is taken or not allowed"):
            call("--port", str(port))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--models", "/nowhere"), "The models folder, nowhere, cannot be read."),
        (("--uploads", "many"), "`--uploads` takes a number of megabytes up to 100,000, not many."),
    ],
)
def test_options_of_the_app_are_checked_before_it_starts(tmp_path, options, message):
    # In a process of its own: they are read when the module is imported.
    arguments = [sys.executable, "-m", "loupe", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (2, f"attention-loupe: {message}\n")


def test_a_package_that_is_missing_is_named(call, capsys, monkeypatch):
    def missing(_: str) -> None:
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")

    monkeypatch.setattr(command, "import_module", missing)
    with refused(capsys, r"streamlit is not installed: pip install 'attention-loupe\[app\]'"):
        call()


def test_an_interrupt_ends_with_130(call, monkeypatch):
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        call("some/bert")
    assert ended.value.code == 130


def test_records_may_be_as_large_as_in_the_clone():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["maxUploadSize"] == command.MAX_RECORD_MB
