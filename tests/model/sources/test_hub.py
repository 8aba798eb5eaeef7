"""Against a Hub on the loopback address, whole and with faults."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants, file_download

from model.sources import hub, locations
from tests.model.hub_server import COMMIT, Hub, serving
from tests.model.sources.test_locations import two_encoders

CONFIG = b'{"model_type": "bert"}'
WEIGHTS = bytes(range(256)) * 64
NEEDED = {
    "config.json": CONFIG,
    "model.safetensors": WEIGHTS,
    "tokenizer.json": b"{}",
    "vocab.txt": b"[PAD]\n",
    "spm.model": b"\n",
    "modules.json": b"[]",
    "1_Pooling/config.json": b'{"pooling_mode_mean_tokens": true}',
}
TOO_MANY = {
    "pytorch_model.bin": b"\x80\x04.",
    "tf_model.h5": b"h5",
    "onnx/model.onnx": b"onnx",
    "onnx/config.json": b"{}",
    "modeling_evil.py": b"import os",
    "README.md": b"# it",
    "../outside.json": b"{}",
    "/etc/config.json": b"{}",
    "2_Dense/../../../config.json": b"{}",
}


@pytest.fixture
def one(cache: Path) -> Iterator[Hub]:  # noqa: ARG001
    with serving(Hub({**TOO_MANY, **NEEDED})) as server:
        yield server


def fetch(server: Hub, name: str = "some/bert", revision: str | None = None, **options: object) -> str:
    return hub.download(name, revision, endpoint=server.endpoint, **options)


def test_a_download_fetches_what_is_read_and_nothing_else(one, cache):
    assert fetch(one) == "hub:some/bert"
    assert sorted(one.requested) == sorted(NEEDED)
    assert one.requested[-1] == "config.json"
    folder = locations.find("hub:some/bert", cache)
    result = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in result.items()} == NEEDED
    assert hub.cached_models().names == ("hub:some/bert",)
    assert not list(cache.parent.glob("*.json"))


def test_of_two_encoders_in_a_model_each_has_a_name(cache, tmp_path):
    whole = two_encoders(tmp_path / "clip")
    files = {path.name: path.read_bytes() for path in whole.iterdir()}
    with serving(Hub(files)) as server:
        assert fetch(server) == "hub:some/bert"
    names = ("hub:some/bert/text_model", "hub:some/bert/vision_model")
    assert hub.cached_models().names == names
    folder = locations.find("hub:some/bert", cache)
    assert [locations.find(name, cache) for name in names] == [folder / "text_model", folder / "vision_model"]
    with pytest.raises(FileNotFoundError, match="is not in the Hugging Face cache"):
        locations.find("hub:other/clip/text_model", cache)


def test_what_is_here_is_not_fetched_again(one):
    fetch(one)
    one.requested.clear()
    assert fetch(one) == "hub:some/bert"
    assert not one.requested


def test_the_progress_goes_up_to_the_sum_of_the_sizes(one):
    reports = []
    fetch(one, report=lambda *entry: reports.append(entry))
    done = [entry[1] for entry in reports]
    total = sum(map(len, NEEDED.values()))
    assert done == sorted(done)
    assert done[-1] == total
    assert {entry[2] for entry in reports} == {total}
    assert {entry[0] for entry in reports} == set(NEEDED)


def test_a_revision_is_told_from_the_main_branch(one, cache):
    assert fetch(one, revision="a-branch") == f"hub:some/bert@{COMMIT[:8]}"
    assert hub.cached_models().names == (f"hub:some/bert@{COMMIT[:8]}",)
    assert locations.find(f"hub:some/bert@{COMMIT[:8]}", cache).name == COMMIT
    with pytest.raises(FileNotFoundError, match="some/bert is not in the Hugging Face cache"):
        locations.find("hub:some/bert", cache)


def test_shards_are_those_that_the_index_names(one):
    del one.files["model.safetensors"]
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    one.files |= {name: WEIGHTS + name.encode() for name in (*names, "other.safetensors")}
    one.files["model.safetensors.index.json"] = json.dumps(
        {"weight_map": dict(zip("ab", names, strict=True))}
    ).encode()
    assert fetch(one) == "hub:some/bert"
    assert set(names) < set(one.requested)
    assert "other.safetensors" not in one.requested
    folder = hub.snapshot("some/bert")
    (folder / names[1]).unlink()
    assert hub.cached_models().names == ()
    with pytest.raises(FileNotFoundError):
        hub.snapshot("some/bert")


@pytest.mark.parametrize(
    "named", ["../../secret.safetensors", "/etc/x.safetensors", "x.bin", 3, "a/b.safetensors"]
)
def test_an_index_that_names_other_places_is_refused(one, named):
    del one.files["model.safetensors"]
    one.files["model.safetensors.index.json"] = json.dumps({"weight_map": {"a": named}}).encode()
    with pytest.raises(ValueError, match=r"^model.safetensors.index.json (names|has no weight_map)"):
        fetch(one)
    assert hub.cached_models().names == ()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_wrong_hash_leaves_nothing_that_opens(one, cache, file):
    one.sent[file] = bytes(len(NEEDED[file]))
    with pytest.raises(ValueError, match=f"^{file} of some/bert is not the file that the Hub lists"):
        fetch(one)
    assert hub.cached_models().names == ()
    assert not any(path.read_bytes() == one.sent[file] for path in cache.rglob("*") if path.is_file())
    one.sent.clear()
    assert fetch(one) == "hub:some/bert"


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_download_that_is_cut_off_leaves_nothing_that_opens(one, cache, file):
    one.cut_off.add(file)
    with pytest.raises(
        ValueError, match=r"^(the download of some/bert is incomplete|the Hub cannot be reached)"
    ):
        fetch(one)
    assert hub.cached_models().names == ()
    assert not list(cache.rglob("*.incomplete"))
    one.cut_off.clear()
    assert fetch(one) == "hub:some/bert"


def test_one_that_stops_the_download_leaves_nothing_that_opens(one):
    def stop(_file: str, done: int, _total: int) -> None:
        if done > len(WEIGHTS):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(one, report=stop)
    assert hub.cached_models().names == ()


def test_more_than_may_be_fetched_is_refused_before_anything_is_fetched(one):
    one.sizes["model.safetensors"] = 7 * 10**9
    with pytest.raises(ValueError, match=r"^some/bert is 7.0 GB; at most 4.3 GB are downloaded here$"):
        fetch(one)
    one.sizes["model.safetensors"] = None
    with pytest.raises(ValueError, match=r"does not say how large model\.safetensors"):
        fetch(one)
    assert not one.requested


def test_more_than_was_said_is_not_taken(one):
    one.sizes["model.safetensors"] = 100
    with pytest.raises(ValueError, match="is larger than the Hub says"):
        fetch(one)
    assert hub.cached_models().names == ()


def test_what_cannot_be_had_is_said_in_one_sentence(one, monkeypatch):
    with pytest.raises(ValueError, match=r"^the Hub has no public model some/other$"):
        fetch(one, "some/other")
    with pytest.raises(ValueError, match=r"^some/bert has no revision nowhere$"):
        fetch(one, revision="nowhere")
    one.refuses_files = True
    with pytest.raises(ValueError, match=r"^some/bert is gated: run `hf download some/bert` with an account"):
        fetch(one)
    one.gated = "manual"
    with pytest.raises(ValueError, match=r"^some/bert is gated"):
        fetch(one)
    one.status = 500
    with pytest.raises(ValueError, match=r"^the Hub refused some/bert with HTTP status 500$"):
        fetch(one)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ValueError, match=r"^HF_HUB_OFFLINE is set, so nothing is downloaded$"):
        fetch(one)


def test_no_network_is_said_in_one_sentence(cache):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(
        ValueError, match=r"^the Hub cannot be reached: there is no network, or it does not answer$"
    ):
        hub.download("some/bert", endpoint=f"http://127.0.0.1:{port}")
    assert not cache.exists()


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"[]", b"{}", b'{"id": "a", "sha": 3}', b'{"siblings": [{}]}']
)
def test_an_answer_that_makes_no_sense_is_refused(one, answer):
    one.answer = answer
    with pytest.raises(ValueError, match=r"^the Hub's answer about some/bert cannot be read$"):
        fetch(one)


def test_a_commit_that_is_a_path_is_refused(one, tmp_path):
    one.commit = "../../../../outside"
    with pytest.raises(ValueError, match=r"^the Hub's answer about some/bert cannot be read$"):
        fetch(one)
    assert not list(tmp_path.rglob("outside"))


def test_pickles_alone_are_refused_by_name(one):
    del one.files["model.safetensors"]
    with pytest.raises(
        ValueError, match=r"has no model.safetensors, only pytorch_model.bin, tf_model.h5, which"
    ):
        fetch(one)
    assert not one.requested


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("google/bert", ("google/bert", None)),
        (" bert-base-uncased ", ("bert-base-uncased", None)),
        ("google/bert@refs/pr/3", ("google/bert", "refs/pr/3")),
        ("https://huggingface.co/google/bert", ("google/bert", None)),
        ("https://huggingface.co/google/bert/tree/v1.0", ("google/bert", "v1.0")),
        ("hub:google/bert", ("google/bert", None)),
        ("google/bert@", ("google/bert", None)),
    ],
)
def test_a_name_is_read_off_what_is_typed(typed, expected):
    assert hub.parse_name(typed) == expected


@pytest.mark.parametrize(
    "typed", ["", "a/b/c", "../x", "a/..", "a/b@../../x", "a b", "http://elsewhere/x", "x" * 300]
)
def test_what_is_no_name_is_refused(typed):
    with pytest.raises(ValueError, match="is not the name of a model: write owner/name"):
        hub.parse_name(typed)


def test_no_token_is_sent(one, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    seen = []
    true = huggingface_hub.utils.build_hf_headers
    monkeypatch.setattr(
        file_download,
        "build_hf_headers",
        lambda **arguments: seen.append(true(**arguments)) or true(**arguments),
    )
    fetch(one)
    assert seen
    assert not [headers for headers in seen if "authorization" in map(str.lower, headers)]


def test_an_empty_or_damaged_cache_is_no_error(cache):
    assert hub.cached_models() == locations.Listing()
    (cache / "models--some--bert" / "snapshots").mkdir(parents=True)
    (cache / "models--some--bert" / "snapshots" / "file").write_text("")
    (cache / "models--a--b" / "snapshots" / COMMIT).mkdir(parents=True)
    (cache / "models--a--b" / "snapshots" / COMMIT / "config.json").write_bytes(CONFIG)
    assert hub.cached_models().names == ()
    assert hub.cached_models().refused == ("a/b is in the cache, but without model.safetensors",)


def test_a_snapshot_that_leads_out_of_the_cache_is_not_read(cache, tmp_path):
    folder = cache / "models--a--b" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    (cache / "models--a--b" / "refs").mkdir()
    (cache / "models--a--b" / "refs" / "main").write_text(COMMIT)
    (folder / "config.json").write_bytes(CONFIG)
    (tmp_path / "secret").write_bytes(WEIGHTS)
    (folder / "model.safetensors").symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match=r"^hub:a/b is not read: a link in it points outside"):
        locations.find("hub:a/b", tmp_path)


def test_a_download_does_not_wait_for_ever():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the connection and never answers
        began = time.monotonic()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hub, "PATIENCE", 0.2)
            with pytest.raises(ValueError, match="cannot be reached"):
                hub.download("some/bert", endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - began < 10
