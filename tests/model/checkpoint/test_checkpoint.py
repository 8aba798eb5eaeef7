import gzip
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load as deserialize

from model import checkpoint
from model.capture import capture
from model.checkpoint import (
    OWN_FILES,
    available,
    fingerprint,
    load,
    predictions,
    read_config,
    record_figures,
    save,
)
from model.files import content
from model.files.encoder_files import PREDICTIONS, RECORDING
from model.inputs.text import encode, train_tokenizer, train_word_tokenizer
from tests.full_disk import FULL, full_after
from tests.model.conftest import HISTORY
from tests.model.tiny import DIGIT, TEXT, build, tokenizer

# Round trip


@pytest.mark.parametrize(
    "config",
    [DIGIT, TEXT, replace(TEXT, shared_qkv=True), replace(TEXT, masked_token_output=True, class_names=())],
    ids=["digit", "text", "shared projection", "masked tokens"],
)
def test_what_is_saved_is_what_is_loaded(home, config):
    model = build(config, seed=5)
    save(home / "some", model, HISTORY, tokenizer(config.n_positions) if config.is_text else None)
    loaded = load("some")
    assert (loaded.name, loaded.config, loaded.history) == ("some", config, HISTORY)
    assert loaded.n_parameters == sum(parameter.numel() for parameter in model.parameters())
    assert not loaded.model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, loaded.model.state_dict()[name]), name


def test_weights_saved_at_half_precision_are_loaded_at_full(home):
    model = build(DIGIT)
    save(home / "half", model.half(), HISTORY)
    loaded = load("half").model.classifier.weight
    assert loaded.dtype == torch.float32
    assert torch.equal(loaded, model.classifier.weight.float())


def test_a_shared_projection_is_still_shared_when_it_is_loaded(home):
    save(home / "shared", build(replace(TEXT, shared_qkv=True)), HISTORY, tokenizer(12))
    layer = load("shared").model.blocks[0].attention
    assert layer.w_q is layer.w_k
    assert layer.w_q is layer.w_v


@pytest.mark.usefixtures("text")
def test_a_text_encoder_brings_its_tokenizer_cut_to_its_positions():
    assert len(capture(load("text"), "film " * 50).tokens) == TEXT.n_positions


def test_what_is_left_out_of_a_long_text_is_what_was_left_out_in_training(home):
    text = " ".join(["film"] * 50 + ["end"] * 50)
    reads_the_end = train_tokenizer([text], vocab_size=30, n_positions=12)
    save(home / "end", build(TEXT), HISTORY, reads_the_end)
    read = encode(load("end").tokenizer, text)
    assert set(read.tokens) == {"[CLS]", "end", "[SEP]"}
    assert read.from_start
    assert len(read.tokens) == TEXT.n_positions

    reads_the_start = train_word_tokenizer([text], vocab_size=30, n_positions=12)
    save(home / "start", build(TEXT), HISTORY, reads_the_start)
    read = encode(load("start").tokenizer, text)
    assert set(read.tokens) == {"film"}
    assert not read.from_start


@pytest.mark.usefixtures("digit")
def test_no_tokenizer_for_digits():
    assert load("digit").tokenizer is None


def test_the_files_of_a_checkpoint(home):
    film = {"step": torch.tensor([0, 1])}
    save(home / "all", build(TEXT), HISTORY, tokenizer(12), film)
    names = sorted(path.name for path in (home / "all").iterdir())
    film_and_all = "config.json film.safetensors.gz history.json model.safetensors tokenizer.json"
    assert names == film_and_all.split()
    assert deserialize(gzip.decompress((home / "all" / "film.safetensors.gz").read_bytes()))[
        "step"
    ].tolist() == [0, 1]
    assert [path.name for path in home.iterdir()] == ["all"]


# Names and paths


def test_whoever_may_read_the_configuration_may_read_the_weights(digit):
    by_example = {"predicted": np.zeros(1, np.uint8), "loss": np.zeros(1, np.float32)}
    record_figures(digit, {"n": 1}, by_example)
    modes = {path.name: path.stat().st_mode for path in digit.iterdir()}
    assert {"model.safetensors", "predictions.safetensors"} < set(modes)
    assert set(modes.values()) == {modes["config.json"]}


@pytest.mark.usefixtures("digit", "text")
def test_available_checkpoints_are_the_folders_with_a_configuration(home):
    (home / "notes").mkdir()
    (home / "README.md").touch()
    assert available() == ["digit", "text"]


def test_a_checkpoint_is_loaded_by_name_or_by_path(digit, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(digit, elsewhere)
    for name_or_path in ("digit", digit, str(elsewhere), elsewhere):
        assert load(name_or_path).config == DIGIT


@pytest.mark.usefixtures("digit")
def test_a_name_comes_before_a_folder_of_that_name(text, tmp_path, monkeypatch):
    shutil.copytree(text, tmp_path / "digit")
    monkeypatch.chdir(tmp_path)
    assert load("digit").config == DIGIT


@pytest.mark.parametrize("ask", [load, read_config, predictions])
@pytest.mark.parametrize("name", ["neither", "../secret", "digit/../../secret", "a\0b", "secret"])
def test_what_is_no_checkpoint_is_not_found_and_the_known_ones_are_named(
    digit, tmp_path, monkeypatch, name, ask
):
    shutil.copytree(digit, tmp_path / "secret")
    monkeypatch.chdir(digit)  # from where no such path leads anywhere
    with pytest.raises(FileNotFoundError, match=re.escape(f"no checkpoint {name!r}; there are digit")):
        ask(name)


def test_the_configuration_can_be_read_without_the_weights(digit):
    (digit / "model.safetensors").unlink()
    assert read_config("digit") == DIGIT


def test_a_tokenizer_that_fills_up_does_not_here(home):
    padding = tokenizer(12)
    padding.enable_padding(length=12)
    save(home / "text", build(TEXT), HISTORY, padding)
    assert len(load("text", "cpu").tokenizer.encode("great film").ids) == 4


def test_loading_takes_no_random_numbers(digit):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    load(digit, "cpu")
    assert torch.equal(torch.rand(3), expected)


def test_predictions_of_the_test_digits(digit):
    assert predictions("digit") is None
    path = digit / "predictions.safetensors"
    predicted, loss = np.array([7, 2], np.uint8), np.array([0.5, 1], np.float32)
    save_arrays({"predicted": predicted, "loss": loss}, path)
    assert predictions("digit")["predicted"].tolist() == [7, 2]
    for wrong in ({"predicted": predicted}, {"predicted": predicted, "loss": loss[:1]}):
        save_arrays(wrong, path)
        with pytest.raises(ValueError, match="cannot be read: it must hold `predicted` and `loss`"):
            predictions("digit")
    path.write_bytes(b"cut")
    with pytest.raises(ValueError, match=r"digit/predictions\.safetensors cannot be read"):
        predictions("digit")


def test_figures_are_added_to_the_history(digit):
    by_example = {"predicted": np.array([7, 2], np.uint8), "loss": np.array([0.5, 1], np.float32)}
    figures = {"n": 4, "accuracy": 0.75, "loss": 0.5, "data": "four digits"}
    record_figures("digit", figures | {"accuracy": 0.5}, by_example)
    record_figures(digit, figures)
    assert load("digit").history == HISTORY | {"figures": figures}
    assert predictions("digit")["loss"].tolist() == [0.5, 1]


def test_a_checkpoint_may_have_no_history(digit):
    (digit / "history.json").unlink()
    assert load("digit").history == {}
    record_figures("digit", {"n": 4, "accuracy": 0.75, "loss": 0.5, "data": "four digits"})
    assert load("digit").history["figures"]["n"] == 4


# Fingerprints


def test_a_fingerprint_is_that_of_the_contents(digit, text, tmp_path):
    first = fingerprint("digit")
    assert first == fingerprint(digit) == fingerprint("digit")
    assert first == fingerprint(shutil.copytree(digit, tmp_path / "elsewhere"))
    assert first != fingerprint(text)
    (digit / "notes.txt").write_text("not read")
    assert fingerprint("digit") == first
    with pytest.raises(FileNotFoundError, match="no checkpoint 'other'"):
        fingerprint("other")


@pytest.mark.parametrize("name", OWN_FILES)
def test_every_file_that_is_read_counts(text, name):
    for beside in (RECORDING, PREDICTIONS):
        (text / beside).write_bytes(b"what a run recorded")
    first = fingerprint(text)
    content = (text / name).read_bytes()
    (text / name).write_bytes(content[:-1] + b"!")  # of the same length
    os.utime(text / name, ns=(0, 1))  # the clock of a file system may stand still in between
    changed = fingerprint(text)
    (text / name).unlink()
    without = fingerprint(text)
    (text / name).write_bytes(content)
    os.utime(text / name, ns=(0, 2))
    assert len({first, changed, without}) == 3
    assert fingerprint(text) == first


def test_a_file_too_large_to_be_opened_is_not_read(digit):
    os.truncate(digit / "model.safetensors", 2**40)  # of zeros that take no room on the disk
    first = fingerprint(digit)
    os.truncate(digit / "model.safetensors", 2**40 + 1)
    assert fingerprint(digit) != first
    with pytest.raises(ValueError, match=r"^the weights of .* cannot be read: "):
        load(digit)


def test_a_replaced_checkpoint_has_another_fingerprint(digit):
    first = fingerprint("digit")
    save(digit, build(DIGIT, seed=1), HISTORY)
    assert fingerprint("digit") != first
    save(digit, build(DIGIT), HISTORY)
    assert fingerprint("digit") == first


def test_a_copy_that_looks_as_old_as_what_it_replaces_is_told_apart(digit):
    """`cp -p` keeps the time of modification, and the new file may get the inode of the old one."""
    path = digit / "model.safetensors"
    first, before = fingerprint("digit"), path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")
    while (
        path.stat().st_ctime_ns == before.st_ctime_ns
    ):  # the clock of a file system ticks every few milliseconds
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )
    assert fingerprint("digit") != first


@pytest.mark.usefixtures("digit")
def test_files_are_hashed_once(monkeypatch):
    first = fingerprint("digit")
    monkeypatch.setattr(Path, "open", None)
    assert fingerprint("digit") == first


# A kill during save


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_the_old_checkpoint_or_the_new_one(home, tmp_path, monkeypatch):
    """Whatever `save` does to the disk, the disk is copied before and after it; each copy must be whole."""
    folder, copies = home / "it", tmp_path / "copies"
    save(folder, old := build(DIGIT, seed=1), {"is": "old"})
    new = build(DIGIT, seed=2)

    def noted(original):
        def call(*args, **kwargs):
            keep()
            result = original(*args, **kwargs)
            keep()
            return result

        return call

    def keep():
        copytree(home, copies / str(len(list(copies.glob("*")))))

    copytree = shutil.copytree
    copies.mkdir()
    with monkeypatch.context() as patch:
        for owner, name in (
            (Path, "replace"),
            (Path, "mkdir"),
            (Path, "write_text"),
            (checkpoint, "save_model"),
        ):
            patch.setattr(owner, name, noted(getattr(owner, name)))
        patch.setattr(shutil, "rmtree", noted(shutil.rmtree))
        save(folder, new, {"is": "new"})

    order = []
    for copy in sorted(copies.iterdir(), key=lambda path: int(path.name)):
        monkeypatch.setattr(checkpoint, "CHECKPOINTS", copy)
        assert available() == ["it"]
        for loaded in (load("it"), load(copy / "it")):
            model = {"old": old, "new": new}[loaded.history["is"]]
            assert torch.equal(loaded.model.classifier.weight, model.classifier.weight)
        order.append(loaded.history["is"])
        with monkeypatch.context() as patch:
            patch.setattr(content, "LEFT_BEHIND", -1)  # as on a later day
            save(copy / "it", new, {"is": "saved again"})
        assert load("it").history == {"is": "saved again"}
        assert [path.name for path in copy.iterdir()] == ["it"]
    assert order == sorted(order, reverse=True)
    assert set(order) == {"old", "new"}


# What comes with the project


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", available())
def test_every_checkpoint_that_comes_with_the_project_can_be_looked_into(name):
    loaded = load(name)
    model_input = "A film." if loaded.config.is_text else np.zeros((28, 28), np.uint8)
    record = capture(loaded, model_input)
    assert np.isfinite(record.logits).all()
    assert read_config(name) == record.config


@pytest.mark.parametrize("room", [0, 200, 1500, 4000])
def test_a_full_disk_leaves_the_old_checkpoint_and_its_figures(digit, room):
    before = {path.name: path.read_bytes() for path in digit.iterdir()}
    by_example = {"predicted": np.zeros(10_000, np.uint8), "loss": np.zeros(10_000, np.float32)}
    with full_after(room):
        with pytest.raises(OSError, match=FULL):
            save(digit, build(replace(DIGIT, n_layers=3)), {"note": "x" * 5000})
        with pytest.raises(OSError, match=FULL):
            record_figures("digit", {"n": 1, "data": "x" * 5000}, by_example)
        with pytest.raises(OSError, match=FULL):
            record_figures("digit", {"n": 1, "data": "x" * 5000})
    assert {path.name: path.read_bytes() for path in digit.iterdir()} == before
    assert [path.name for path in digit.parent.iterdir()] == ["digit"]
