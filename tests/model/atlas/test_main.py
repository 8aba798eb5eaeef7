"""The command that stores what is shown over a data set."""

import json
import sys

import pytest

from model.atlas.__main__ import main
from model.atlas.stored import read_against, read_atlas
from model.checkpoint import save, weights_hash
from tests.model import tiny


def run(monkeypatch, *words) -> None:
    monkeypatch.setattr(sys, "argv", ["model.atlas", *map(str, words)])
    main()


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\ngreat film,1\nnot great,0\nfilm,1\n")
    return path


def test_an_atlas_lies_beside_its_checkpoint(monkeypatch, text, csv):
    run(monkeypatch, "text", "--data", csv, "--name", "films", "--limit", 2)
    found = read_atlas(text / "atlas.json")
    assert (found.source.data, found.source.n) == ("films", 2)
    assert found.source.weights == (weights_hash("text"),)
    assert found.source.command == "python -m model.atlas text --limit 2 --data texts.csv"


def test_two_checkpoints(monkeypatch, home, text, csv, tmp_path):
    made = tiny.loaded(tiny.TEXT, 1)
    save(home / "other", made.model, {}, made.tokenizer)
    run(monkeypatch, text, "--data", csv, "--against", "other", "--out", tmp_path / "out")
    found = read_against(tmp_path / "out" / "against-other.json")
    assert found.source.weights == (weights_hash("text"), weights_hash("other"))
    assert "--against other" in found.source.command
    assert str(tmp_path) not in json.dumps(found.source.command)


def test_digits_need_no_data(monkeypatch, digit, capsys):
    run(monkeypatch, "digit", "--limit", 2)
    assert read_atlas(digit / "atlas.json").source.data == "MNIST test digits"
    assert capsys.readouterr().out.strip() == str(digit / "atlas.json")


@pytest.mark.parametrize(
    ("words", "said"), [(("text",), "name a CSV"), (("nowhere",), "no checkpoint 'nowhere'")]
)
@pytest.mark.usefixtures("text")
def test_what_is_wrong_is_one_sentence(monkeypatch, words, said):
    with pytest.raises(SystemExit, match=f"model.atlas: .*{said}"):
        run(monkeypatch, *words)


@pytest.mark.usefixtures("text")
def test_a_checkpoint_of_other_weights_has_another_hash(home):
    before = weights_hash("text")
    made = tiny.loaded(tiny.TEXT, 3)
    save(home / "text", made.model, {"seed": 4}, made.tokenizer)
    assert weights_hash("text") != before
