"""The command that stores what is shown over a data set."""

import sys
from dataclasses import replace

import pytest

from model.atlas.__main__ import main
from model.atlas.results import (
    EXAMPLES,
    FAITHFULNESS,
    HEADS,
    LAYERS,
    PARTS,
    PRUNING,
    RELATIONS,
    comparison_file_name,
    read_comparison,
    read_heads,
    read_rows,
)
from model.checkpoint import save, weights_hash
from model.sources import locations
from tests.full_disk import FULL, full_after
from tests.model import tiny
from tests.refused import refused


def run(monkeypatch, *words) -> None:
    monkeypatch.setattr(sys, "argv", ["model.atlas", *map(str, words)])
    main()


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\ngreat film,1\nnot great,0\nfilm,1\n")
    return path


def test_an_atlas_lies_beside_its_checkpoint(monkeypatch, text, csv, capsys):
    run(monkeypatch, "text", "--data", csv, "--name", "films", "--limit", 2)
    assert capsys.readouterr().out.split() == [str(text / HEADS), str(text / LAYERS)]
    source = read_heads(text / HEADS).source
    assert (source.data, source.n) == ("films", 2)
    assert source.weights == (weights_hash("text"),)
    assert source.command == "python -m model.atlas text --data texts.csv --limit 2"


@pytest.mark.slow
def test_two_checkpoints(monkeypatch, home, text, csv, tmp_path):
    tiny.stored(home / "other", seed=1)
    run(monkeypatch, text, "--data", csv, "--against", home / "other", "--out", tmp_path / "out")
    result = read_comparison(tmp_path / "out" / "against-other.json")
    assert result.source.weights == (weights_hash("text"), weights_hash("other"))
    assert result.source.command == "python -m model.atlas text --data texts.csv --against other"


@pytest.mark.slow
def test_the_names_of_the_app_are_those_of_the_command(monkeypatch, text, csv, tmp_path):
    for seed, name in enumerate(("mine", "yours")):
        tiny.stored(tmp_path / "models" / "team" / name, seed=seed)
    monkeypatch.setattr(locations, "_root", None)
    monkeypatch.setenv("LOUPE_MODELS", str(tmp_path / "models"))
    run(monkeypatch, "team/mine", "--data", csv)
    source = read_heads(tmp_path / "models" / "team" / "mine" / HEADS).source
    assert source.command == "python -m model.atlas team/mine --data texts.csv"
    run(monkeypatch, "text", "--data", csv, "--against", "team/yours")
    result = read_comparison(text / comparison_file_name("team/yours"))
    assert result.source.command == "python -m model.atlas text --data texts.csv --against team/yours"


def test_digits_need_no_data(monkeypatch, digit):
    run(monkeypatch, "digit", "--limit", 2)
    assert read_heads(digit / HEADS).source.data == "MNIST test digits"


@pytest.mark.slow
@pytest.mark.usefixtures("text")
def test_examples_are_not_of_the_data_unless_that_is_asked_for(monkeypatch, csv, tmp_path):
    run(monkeypatch, "text", "--data", csv, "--with", "examples", "--out", tmp_path / "own")
    run(monkeypatch, "text", "--data", csv, "--with", "examples", "--out", tmp_path / "data", "--show-data")
    own, data = (read_rows(tmp_path / which / EXAMPLES).source for which in ("own", "data"))
    assert (own.data, data.data) == ("sentences of our own", "texts.csv")
    assert own.command == "python -m model.atlas text --data texts.csv --with examples --sample 256"
    assert data.command == f"{own.command} --show-data"


@pytest.mark.slow
@pytest.mark.usefixtures("text")
def test_everything_at_once_and_on_how_many_examples(monkeypatch, csv, tmp_path):
    every = "importance,ablation,pruning,faithfulness,examples,parts"
    run(monkeypatch, "text", "--data", csv, "--with", every, "--sample", 2, "--out", tmp_path / "out")
    names = (HEADS, LAYERS, EXAMPLES, PRUNING, FAITHFULNESS, PARTS)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(names)
    heads = read_heads(tmp_path / "out" / HEADS)
    assert heads.source.n == 3
    assert dict(heads.source.samples) == {"importance": 2, "zero": 2, "mean": 2}
    assert {"importance", "zero", "mean"} < set(heads.spreads)
    of_heads = (heads.source.n, read_rows(tmp_path / "out" / EXAMPLES).source.n)
    assert all(n > 2 for n in of_heads)
    assert all(read_rows(tmp_path / "out" / name).source.n == 2 for name in (FAITHFULNESS, PARTS))
    pruning = read_rows(tmp_path / "out" / PRUNING).source
    assert (pruning.n, dict(pruning.samples)) == (3, {"choosing": 1, "judging": 2})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("label\n1\n0\n7\n", "example 3: a label must be one of"),
        ("rating\n1\n0\n1\n", "lacks the column label"),
    ],
)
@pytest.mark.usefixtures("text")
def test_labels_are_refused_before_anything_is_measured(monkeypatch, tmp_path, labels, message, capsys):
    rows = zip(("text", "great", "film", "not"), labels.split(), strict=True)
    (tmp_path / "it.csv").write_text("\n".join(map(",".join, rows)))
    with refused(capsys, f"^model.atlas: .*{message}"):
        run(
            monkeypatch, "text", "--data", tmp_path / "it.csv", "--with", "pruning", "--out", tmp_path / "out"
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_without_classes_there_is_nothing_to_prune_by(monkeypatch, home, csv, capsys):
    tiny.stored(home / "states", replace(tiny.TEXT, class_names=()))
    with refused(capsys, "does not choose one of several classes"):
        run(monkeypatch, "states", "--data", csv, "--with", "pruning")
    run(monkeypatch, "states", "--data", csv, "--with", "importance,ablation,faithfulness", "--sample", 2)
    assert "zero" in read_heads(home / "states" / HEADS).spreads


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("text",), "name a CSV"),
        (("nowhere",), "no checkpoint 'nowhere'"),
        (("text", "--data", "nowhere.csv"), "nowhere.csv"),
        (("text", "--device", "nonsense"), "nonsense"),
    ],
)
@pytest.mark.usefixtures("text")
def test_what_is_wrong_is_one_sentence(monkeypatch, words, message, capsys):
    with refused(capsys, f"^model.atlas: .*{message}"):
        run(monkeypatch, *words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--limit", "1"), "'1' is no number of examples: at least 2 are needed"),
        (("--sample", "many"), "'many' is no number of examples"),
        (("--engine", "ray", "--workers", "0"), "'0' is no number of workers"),
        (("--with", "examples,nothing"), "there is no 'nothing'; choose from"),
    ],
)
def test_what_is_chosen_wrongly_is_said(monkeypatch, capsys, words, message):
    with pytest.raises(SystemExit):
        run(monkeypatch, "text", *words)
    assert message in capsys.readouterr().err


def test_the_help_can_be_read(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit):
        run(monkeypatch, "--help")
    output = capsys.readouterr().out
    assert "python -m model.atlas CHECKPOINT --data FILE.csv --out FOLDER" in output
    assert max(map(len, output.splitlines())) <= 120


def test_what_is_ended_by_hand_says_how_it_goes_on(monkeypatch, text, csv):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("model.atlas.__main__.measure_dataset", interrupted)
    with pytest.raises(SystemExit, match="the same command goes on from here"):
        run(monkeypatch, text, "--data", csv)


@pytest.fixture
def links(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("text,from,to,relation\nnot a film,1,3,advmod\na great film,1,3,det\n")
    return path


def test_links_are_data_of_their_own(monkeypatch, text, links, capsys):
    run(monkeypatch, "text", "--relations", links, "--name", "films")
    output = capsys.readouterr()
    assert (output.out.split(), output.err) == ([str(text / RELATIONS)], "")
    assert not (text / HEADS).exists()
    source = read_rows(text / RELATIONS).source
    assert (source.data, source.n) == ("films", 2)
    assert source.command == "python -m model.atlas text --relations links.csv"


@pytest.mark.usefixtures("text")
def test_links_that_are_left_out_are_told(monkeypatch, links, tmp_path, capsys):
    links.write_text(links.read_text() + "film film film film abcdefg,1,5,x\n")
    run(monkeypatch, "text", "--relations", links, "--out", tmp_path / "out")
    assert capsys.readouterr().err == (
        "1 of 3 links is left out: 1 with a word beyond the length that the encoder reads.\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--with", "examples"), "--relations is measured by itself: leave out --with"),
        (("--against", "text"), "leave out --against"),
        (("--show-data",), "leave out --show-data"),
    ],
)
@pytest.mark.usefixtures("text")
def test_links_go_with_nothing_else(monkeypatch, links, words, message, capsys):
    with refused(capsys, f"^model.atlas: .*{message}"):
        run(monkeypatch, "text", "--relations", links, *words)


@pytest.mark.usefixtures("text")
def test_a_file_that_holds_no_links_is_one_sentence(monkeypatch, csv, tmp_path, capsys):
    for path, message in (
        (csv, "texts.csv cannot be read as a table: it lacks the column from"),
        (tmp_path / "no.conllu", "no.conllu"),
    ):
        with refused(capsys, f"^model.atlas: .*{message}"):
            run(monkeypatch, "text", "--relations", path)


@pytest.mark.usefixtures("text")
def test_a_checkpoint_of_other_weights_has_another_hash(home):
    before = weights_hash("text")
    made = tiny.loaded(tiny.TEXT, 3)
    save(home / "text", made.model, {"seed": 4}, made.tokenizer)
    assert weights_hash("text") != before


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("room", [0, 300, 2000])
def test_a_full_disk_leaves_the_old_atlas_and_ends_in_one_sentence(monkeypatch, text, csv, room, capsys):
    run(monkeypatch, "text", "--data", csv, "--limit", 2)
    before = {path.name: path.read_bytes() for path in text.iterdir()}
    with full_after(room), refused(capsys, f"^model.atlas: .*{FULL}"):
        run(
            monkeypatch, "text", "--data", csv, "--with", "importance,ablation,examples", "--name", "x" * 3000
        )
    after = {path.name: path.read_bytes() for path in text.iterdir() if not path.name.endswith(".part")}
    assert after == before
