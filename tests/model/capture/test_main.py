import runpy
import sys

import numpy as np
import pytest
from PIL import Image

from model.capture import capture
from model.capture.__main__ import main
from model.checkpoint import load
from model.record.record_file import read_file
from model.sources import locations
from tests.full_disk import FULL, full_after
from tests.model.huggingface.folders import build
from tests.refused import refused


@pytest.mark.parametrize("name", ["a.npz", "a.safetensors"])
def test_a_text_becomes_a_record_file(text, tmp_path, name, capsys):
    main([str(text), "--text", "a great film", "--out", str(tmp_path / name)])
    result = read_file(tmp_path / name)
    expected = capture(load("text"), "a great film")
    assert result.record.pattern.tobytes() == expected.pattern.tobytes()
    assert result.record.logits.tobytes() == expected.logits.tobytes()
    assert (result.settings["text"], result.settings["checkpoint"]) == ("a great film", "text")
    assert capsys.readouterr().out == f"{name}: 2 layers of 2 heads over 5 positions\n"


def test_a_picture_becomes_a_record_file(digit, tmp_path):  # noqa: ARG001
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    main(["digit", "--image", str(tmp_path / "a.png"), "--out", str(tmp_path / "a.npz")])
    result = read_file(tmp_path / "a.npz")
    np.testing.assert_array_equal(result.picture, pixels)
    assert result.record.pattern.tobytes() == capture(load("digit"), pixels).pattern.tobytes()


def test_a_second_part_is_read_behind_the_text(tmp_path):
    build(tmp_path / "pairs", "BertForSequenceClassification")
    out = tmp_path / "a.npz"
    main([str(tmp_path / "pairs"), "--text", "the film", "--second", "a story", "--out", str(out)])
    result = read_file(out)
    assert result.record.tokens == ("[CLS]", "the", "film", "[SEP]", "a", "story", "[SEP]")
    assert result.settings["second_part"] == "a story"


def test_a_second_part_for_an_encoder_of_one_text_is_refused(text, tmp_path, capsys):
    with refused(capsys, "^model.capture: text reads one text, got two"):
        main([str(text), "--text", "a film", "--second", "not great", "--out", str(tmp_path / "a.npz")])
    assert not (tmp_path / "a.npz").exists()


def test_the_names_of_the_app_are_those_of_the_command(home, tmp_path, monkeypatch):
    build(tmp_path / "models" / "team" / "mine", "BertForSequenceClassification")
    assert home.is_dir()
    monkeypatch.setattr(locations, "_root", None)
    monkeypatch.setenv("LOUPE_MODELS", str(tmp_path / "models"))
    main(["team/mine", "--text", "the film", "--out", str(tmp_path / "a.npz")])
    assert read_file(tmp_path / "a.npz").settings["checkpoint"] == "team/mine"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nothing", "--text", "a", "--out", "a.npz"], "no checkpoint 'nothing'"),
        (["text", "--text", "", "--out", "a.npz"], "text finds no token in this text"),
        (["text", "--text", " \n", "--out", "a.npz"], "text finds no token in this text"),
        (["text", "--text", "a", "--second", " ", "--out", "a.npz"], "--second is empty"),
        (["digit", "--image", "a.png", "--second", "b", "--out", "a.npz"], "--second goes with --text"),
        (["text", "--text", "a", "--out", "a.pt"], "--out must end in"),
        (["text", "--text", "a", "--out", "missing/a.npz"], "No such file or directory"),
        (["text", "--image", "none.png", "--out", "a.npz"], "there is no file none.png"),
        (
            ["text", "--text", "a", "--out", "a.npz", "--device", "toaster"],
            "the device 'toaster' cannot be used",
        ),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_exit_code_2(arguments, why, text, tmp_path, capsys, monkeypatch):
    assert text.is_dir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line


def test_the_command_runs_by_its_name(text, tmp_path, monkeypatch):
    arguments = ["model.capture", str(text), "--text", "a", "--out", str(tmp_path / "a.npz")]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.delitem(sys.modules, "model.capture.__main__")
    runpy.run_module("model.capture", run_name="__main__")
    assert read_file(tmp_path / "a.npz").record.tokens == ("[CLS]", "a", "[SEP]")


@pytest.mark.parametrize("name", ["a.npz", "a.safetensors"])
def test_a_full_disk_leaves_the_old_record(text, tmp_path, name, capsys):
    (tmp_path / name).write_bytes(b"old")
    with full_after(1000), pytest.raises(SystemExit):
        main([str(text), "--text", "a great film", "--out", str(tmp_path / name)])
    assert capsys.readouterr().err == f"model.capture: {FULL}: {tmp_path / name}\n"
    assert (tmp_path / name).read_bytes() == b"old"
    assert name in [path.name for path in tmp_path.iterdir() if path.is_file()]
    assert not list(tmp_path.glob("*.new"))
