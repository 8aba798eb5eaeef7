from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.capture import capture
from model.checkpoint import load
from model.convert.__main__ import main
from tests.full_disk import FULL, full_after
from tests.model.huggingface.folders import SENTENCE, build
from tests.refused import refused

BIN, SAFE = "pytorch_model.bin", "model.safetensors"


@pytest.fixture
def pickled(tmp_path: Path) -> Path:
    """A BERT whose weights are a pickle, and beside it the same one in safetensors: `expected`."""
    for name in ("expected", "pickled"):
        build(tmp_path / name, "BertForSequenceClassification")
    folder = tmp_path / "pickled"
    torch.save(load_file(folder / SAFE), folder / BIN)
    (folder / SAFE).unlink()
    return folder


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "parts", [(BIN,), ("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin"), ("model.pt",)]
)
def test_what_was_a_pickle_opens_with_the_same_numbers(pickled, parts, capsys):
    tensors = load_file(pickled.with_name("expected") / SAFE)
    (pickled / BIN).unlink()
    for index, name in enumerate(parts):
        torch.save(dict(list(tensors.items())[index :: len(parts)]), pickled / name)
    main([str(pickled), "--trusted"])
    assert capsys.readouterr().out == f"{pickled / SAFE}: {len(tensors)} tensors\n"
    expected = capture(load(pickled.with_name("expected")), SENTENCE)
    assert (capture(load(pickled), SENTENCE).logits == expected.logits).all()
    assert all((pickled / name).is_file() for name in parts)


def test_tied_weights_keep_both_names(tmp_path):
    tensor = torch.arange(6.0).reshape(2, 3)
    torch.save({"a": tensor, "b": tensor, "c": tensor.T}, tmp_path / BIN)
    main([str(tmp_path), "--trusted"])
    converted = load_file(tmp_path / SAFE)
    assert torch.equal(converted["a"], tensor)
    assert torch.equal(converted["b"], tensor)
    assert torch.equal(converted["c"], tensor.T)


def test_modules_of_sentence_transformers_are_converted_as_well(tmp_path, capsys):
    (tmp_path / "2_Dense").mkdir()
    save_file({"a": torch.ones(2)}, tmp_path / SAFE)
    torch.save({"linear.weight": torch.ones(2, 2)}, tmp_path / "2_Dense" / BIN)
    main([str(tmp_path), "--trusted"])
    assert torch.equal(load_file(tmp_path / "2_Dense" / SAFE)["linear.weight"], torch.ones(2, 2))
    assert f"{tmp_path / SAFE} is there already" in capsys.readouterr().out


def test_nothing_is_opened_unless_it_is_trusted(pickled, capsys):
    with refused(
        capsys,
        r"^model\.convert: pytorch_model\.bin is a pickle, .*: add --trusted if you trust whoever made it$",
    ):
        main([str(pickled)])
    assert not (pickled / SAFE).exists()


class Hostile:
    def __reduce__(self) -> tuple:
        return Path.touch, (Path("ran"),)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"a": Hostile()}, "pytorch_model.bin is damaged, or holds more than tensors"),
        ({"state_dict": {"a": torch.ones(1)}}, "pytorch_model.bin does not hold tensors by name"),
        (torch.ones(1), "pytorch_model.bin does not hold tensors by name"),
    ],
)
def test_more_than_tensors_is_not_read(tmp_path, monkeypatch, content, sentence, capsys):
    monkeypatch.chdir(tmp_path)
    torch.save(content, tmp_path / BIN)
    with refused(capsys, f"^model.convert: {sentence}$"):
        main([str(tmp_path), "--trusted"])
    assert [path.name for path in tmp_path.iterdir()] == [BIN]


def test_damaged_files_are_one_sentence(tmp_path, capsys):
    for content in (b"", b"hello", b"PK\x03\x04", b"<html>" * 100):
        (tmp_path / BIN).write_bytes(content)
        with refused(capsys, "pytorch_model.bin is damaged"):
            main([str(tmp_path), "--trusted"])


def test_a_folder_without_one_is_refused(tmp_path, capsys):
    with refused(capsys, "there is no pickle in .*: nothing to convert"):
        main([str(tmp_path)])
    with refused(capsys, "No such file or directory: .*nowhere"):
        main([str(tmp_path / "nowhere")])
    for name in ("a.pt", "optimizer.pt"):
        (tmp_path / name).touch()
    with refused(capsys, r"which of a\.pt, optimizer\.pt are the weights\?"):
        main([str(tmp_path), "--trusted"])


def test_a_full_disk_leaves_nothing(pickled, capsys):
    with full_after(1000), refused(capsys, FULL):
        main([str(pickled), "--trusted"])
    assert not list(pickled.glob("model.safetensors*"))
