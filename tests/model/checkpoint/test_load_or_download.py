"""Names that are here, and names of the Hub, against a Hub on the loopback address."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants

from model.checkpoint import load
from model.checkpoint.load_or_download import exit_with_one_sentence, load_or_download
from tests.model.hub_server import COMMIT, Hub, serving
from tests.model.huggingface.folders import build


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def server(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:  # noqa: ARG001
    build(tmp_path / "bert", "BertForSequenceClassification")
    files = files_of(tmp_path / "bert") | {
        "pytorch_model.bin": b"\x80\x04.",
        "modeling_bert.py": b"import os",
    }
    with serving(Hub(files)) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
        )
        yield hub


def test_a_model_of_the_hub_is_downloaded_once_by_its_name(server, tmp_path):
    encoder = load_or_download("some/bert", "cpu")
    assert encoder.name == "hub:some/bert"
    assert encoder.n_parameters == load(tmp_path / "bert").n_parameters
    assert not {"pytorch_model.bin", "modeling_bert.py"} & set(server.requested)
    server.requested.clear()
    for name in ("some/bert", "hub:some/bert"):
        assert load_or_download(name).name == "hub:some/bert"
    assert load_or_download("some/bert", revision="main").name == "hub:some/bert"
    assert not server.requested


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "revision"), [("some/bert", "a-branch"), ("some/bert@a-branch", None), ("hub:some/bert", COMMIT)]
)
def test_a_revision_is_downloaded_once_and_named_by_its_commit(server, name, revision):
    for n_files in (1, 0):  # from the Hub, and from the cache
        server.requested.clear()
        assert load_or_download(name, revision=revision).name == f"hub:some/bert@{COMMIT[:8]}"
        assert server.requested.count("model.safetensors") == n_files


def test_one_of_two_encoders_is_downloaded_by_its_name(server, tmp_path):
    build(tmp_path / "clip", "CLIPModel")
    server.files = files_of(tmp_path / "clip")
    encoder = load_or_download("some/bert/text_model")
    assert (encoder.name, encoder.config.is_text) == ("hub:some/bert/text_model", True)


def test_what_is_here_comes_first(server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bert").rename(tmp_path / "some-bert")
    (tmp_path / "some").mkdir()
    (tmp_path / "some-bert").rename(tmp_path / "some" / "bert")
    assert load_or_download("some/bert").folder == Path("some/bert")
    assert load_or_download("imdb-pre-ln").name == "imdb-pre-ln"
    assert not server.requested


@pytest.mark.parametrize("name", ["bert", "./bert", "/some/bert", "a/b/c", "~/bert", "a b/c", "file/a"])
def test_the_hub_is_not_asked_for_what_is_no_name_of_it(server, tmp_path, monkeypatch, name):
    (tmp_path / "empty" / "file").mkdir(parents=True)
    (tmp_path / "empty" / "file" / "a").touch()
    monkeypatch.chdir(tmp_path / "empty")
    server.status = 500  # said if it were asked
    with pytest.raises((FileNotFoundError, ValueError), match=r"no checkpoint|is not the name of a model"):
        load_or_download(name)


def test_why_nothing_can_be_downloaded_is_one_sentence(server, monkeypatch):
    with pytest.raises(
        ValueError, match=r"^there is no folder some/other, and the Hub has no public model some/other$"
    ):
        load_or_download("some/other")
    with pytest.raises(ValueError, match=r"^some/bert has no revision nowhere$"):
        load_or_download("some/bert", revision="nowhere")
    with pytest.raises(
        ValueError, match=r"is not the name of a model: write owner/name, or owner/name@revision$"
    ):
        load_or_download("some/bert", revision="../main")
    del server.files["model.safetensors"]
    with pytest.raises(
        ValueError, match=r"only pytorch_model\.bin, which is not read here; `attention-loupe convert FOLDER`"
    ):
        load_or_download("hub:some/bert")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        ValueError, match=r"^there is no folder some/bert, and the Hub cannot be reached: there is no network"
    ):
        load_or_download("some/bert")
    assert not [file for file in server.requested if file.endswith(".bin")]


def test_a_download_that_is_stopped_is_not_opened(server, cache, monkeypatch):
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("model.checkpoint.load_or_download.tqdm.update", stopped)
        with pytest.raises(KeyboardInterrupt):
            load_or_download("some/bert")
    assert not list(cache.rglob("config.json"))
    assert load_or_download("some/bert").name == "hub:some/bert"
    assert "config.json" in server.requested


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("the text\nis  empty"), "the text is empty"),
        (FileNotFoundError("no checkpoint 'it'"), "no checkpoint 'it'"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.npz"), "No space left on device: a.npz"),
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 ..."),
            "the memory of the GPU is too small for this; --device cpu takes the CPU",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(error, message, capsys):
    with pytest.raises(SystemExit) as ended, exit_with_one_sentence("model.it"):
        raise error
    assert (ended.value.code, capsys.readouterr().err) == (2, f"model.it: {message}\n")


def test_what_is_wrong_in_the_program_is_not_hidden():
    with pytest.raises(ZeroDivisionError), exit_with_one_sentence("model.it"):
        1 // 0  # noqa: B018
