"""Whatever is wrong with a checkpoint is said in one sentence, before memory is taken for it."""

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from safetensors.torch import save as serialize

from model import checkpoint
from model.checkpoint import load, save
from model.config import LARGEST
from tests.model.conftest import HISTORY
from tests.model.tiny import TEXT, build, tokenizer


def rewrite(path: Path, **changes) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def refused(folder: Path, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        load(folder.name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("left", [0, 7, 200, 0.5, -1])
def test_truncated_weights(digit, left):
    path = digit / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * left) if isinstance(left, float) else left])
    refused(digit, "the weights of digit cannot be read: ")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_missing_files(text, name):
    (text / name).unlink()
    with pytest.raises(ValueError, match=r"text.* cannot be read: "):
        load(text)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["config.json", "history.json", "tokenizer.json"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1, 2]", b"\xff\xfe{}", b"[" * 100_000],
    ids=["empty", "cut", "list", "bytes", "deep"],
)
def test_json_that_is_none(text, name, content):
    (text / name).write_bytes(content)
    refused(text, f"text/{name} (cannot be read|must hold a JSON object)")


def test_a_history_that_the_pages_could_not_read(digit):
    (digit / "history.json").write_text('{"recipe": "by heart"}')
    refused(digit, r"digit/history\.json is damaged: recipe must be an object, got 'by heart'")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
@pytest.mark.parametrize("name", ["tokenizer.json", "history.json"])
def test_what_is_not_a_file_is_not_waited_for(text, name, make):
    (text / name).unlink()
    make(text / name)
    refused(text, ".* cannot be read: it is not a file$")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"colour": "red"}, r"unknown field 'colour'"),
        ({"d_model": 10**9}, f"d_model must be a whole number <= {LARGEST}, got 1000000000"),
        ({"class_names": "ten"}, "class_names must be a list"),
        ({"patch_size": 3}, "patch_size 3 must divide image_size 8"),
    ],
    ids=str,
)
def test_a_configuration_with_unknown_or_absurd_values(digit, changes, sentence):
    rewrite(digit / "config.json", **changes)
    refused(digit, f"digit/config.json is damaged: {sentence}")


FEW, MANY = "numbers are too few", "positions are too many"


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        ("digit", {"d_model": LARGEST}, FEW),
        ("digit", {"n_layers": LARGEST}, FEW),
        ("digit", {"n_heads": LARGEST}, FEW),
        ("digit", {"d_k": LARGEST, "d_v": LARGEST}, FEW),
        ("digit", {"d_ff": LARGEST}, FEW),
        ("digit", {"image_size": 2**17, "patch_size": 2**17, "n_positions": 2}, FEW),
        ("digit", {"image_size": 500, "patch_size": 1, "n_positions": 250_001}, FEW),
        ("digit", {"class_names": [""] * 20_000}, FEW),
        ("text", {"vocab_size": LARGEST}, FEW),
        ("text", {"d_model": LARGEST, "masked_token_output": True}, FEW),
        # Sinusoidal positions and attention take memory that no weights stand for.
        ("text", {"n_positions": LARGEST}, MANY),
        (
            "digit",
            {"image_size": 256, "patch_size": 1, "n_positions": 65_537, "positions": "sinusoidal"},
            MANY,
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else value,
)
def test_what_the_weights_cannot_be_is_refused_before_anything_is_built(
    name, changes, sentence, request, monkeypatch
):
    folder = request.getfixturevalue(name)
    rewrite(folder / "config.json", **changes)
    monkeypatch.setattr(checkpoint, "Transformer", None)
    refused(folder, rf"the weights of {name} cannot be read: .* {sentence}")


@pytest.mark.parametrize("name", ["config.json", "history.json"])
def test_half_a_character_in_json(digit, name):
    path = digit / name
    path.write_text(json.dumps(json.loads(path.read_text()) | {"note": "\ud800"}))
    refused(digit, f"digit/{name} cannot be read: .*surrogates not allowed")


@pytest.mark.parametrize("accuracy", [10**400, -(10**400)], ids=["large", "small"])
def test_figures_that_no_float_holds(digit, accuracy):
    figures = {"n": 1, "accuracy": accuracy, "loss": 0.1, "data": "some"}
    rewrite(digit / "history.json", figures=figures)
    refused(digit, "digit/history.json is damaged: figures accuracy: ")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn])
def test_predictions_and_films_of_numbers_that_numpy_lacks(digit, dtype):
    values = torch.zeros(2).to(dtype)
    save_file({"predicted": values, "loss": values.clone()}, digit / "predictions.safetensors")
    with pytest.raises(ValueError, match=r"digit/predictions\.safetensors cannot be read: "):
        checkpoint.predictions("digit")
    (digit / "film.safetensors.gz").write_bytes(gzip.compress(serialize({"step": values})))
    with pytest.raises(ValueError, match=r"digit/film\.safetensors\.gz cannot be read: "):
        checkpoint.recording_arrays(digit)


def test_a_tensor_of_half_bytes(digit):
    """torch reads two such numbers as one, so that the shape is another than the file says."""
    path = digit / "model.safetensors"
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, numbers = json.loads(content[8 : 8 + size]), content[8 + size :]
    last = max(header.keys() - {"__metadata__"}, key=lambda name: header[name]["data_offsets"])
    start, end = header[last]["data_offsets"]
    header[last] |= {"dtype": "F4", "data_offsets": [start, start + (end - start) // 8]}
    changed = json.dumps(header).encode()
    path.write_bytes(
        len(changed).to_bytes(8, "little") + changed + numbers[: header[last]["data_offsets"][1]]
    )
    refused(digit, "the weights of digit cannot be read: shape .* is invalid for input of size")


def test_more_layers_than_tensors_are_refused_before_anything_is_built(home, monkeypatch):
    # The vocabulary alone holds more numbers than a hundred such layers would.
    save(home / "text", build(replace(TEXT, vocab_size=20_000)), HISTORY, tokenizer(12))
    rewrite(home / "text" / "config.json", n_layers=100)
    monkeypatch.setattr(checkpoint, "Transformer", None)
    refused(home / "text", "the weights of text cannot be read: .* numbers are too few")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"d_ff": 15}, r"blocks\.0\.feed_forward\.\S+ is \(.*16.*\), but config\.json asks for \(.*15.*\)"),
        ({"n_layers": 1}, r"blocks\.1\.\S+ is \(.*\), but config\.json asks for None"),
        ({"class_names": ["yes", "no"]}, r"classifier\.\S+ is \(10.*\), but config\.json asks for \(2"),
        ({"final_norm": False}, r"final_norm\.\S+ is .* asks for None"),
        ({"embedding_norm": True}, r"embedding\.norm\.bias is missing, but config\.json asks for it"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_weights_of_another_shape_than_the_configuration(digit, changes, sentence):
    rewrite(digit / "config.json", **changes)
    refused(digit, f"the weights of digit cannot be read: .*{sentence}")


def test_weights_with_one_left_out_or_added(digit):
    path = digit / "model.safetensors"
    tensors = load_file(path)
    save_file({name: value for name, value in tensors.items() if name != "classifier.bias"}, path)
    refused(digit, r"the weights of digit cannot be read: .*classifier\.bias")
    save_file(tensors | {"one.more": torch.zeros(1)}, path)
    refused(digit, r"one\.more is \(1,\), but config\.json asks for None")


def test_a_tokenizer_that_knows_more_tokens_than_the_encoder(home):
    save(home / "text", build(replace(TEXT, vocab_size=50)), HISTORY, tokenizer(12))
    refused(home / "text", "text knows 50 tokens, its tokenizer numbers them up to ")


CLS_TOKEN = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda values: values["model"]["vocab"].update(film=TEXT.vocab_size),
            "text knows 100 tokens, its tokenizer numbers them up to 100",
        ),
        (
            lambda values: values["post_processor"]["special_tokens"]["[CLS]"].update(ids=[9999]),
            r"adds tokens \(9999, 3\) for which there is no place",
        ),
        (
            lambda values: values["post_processor"].update(single=[CLS_TOKEN] * TEXT.n_positions),
            r"adds tokens .* for which there is no place",
        ),
    ],
    ids=["token beyond the embedding", "unknown special token", "no place left"],
)
def test_token_ids_that_the_encoder_lacks(text, change, sentence):
    path = text / "tokenizer.json"
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    refused(text, sentence)


def test_weights_that_are_no_numbers(digit):
    path = digit / "model.safetensors"
    tensors = load_file(path)
    tensors["blocks.1.feed_forward.expand.weight"][0, 0] = torch.nan
    save_file(tensors, path)
    refused(digit, r"blocks\.1\.feed_forward\.expand\.weight holds numbers that are not finite")
