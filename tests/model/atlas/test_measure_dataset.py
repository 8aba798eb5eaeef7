"""The whole: from a checkpoint and data to the files, also where it is ended on the way."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import model.atlas.measure_dataset as module
from model.atlas.dataset_examples import OWN_NAME, examples_for
from model.atlas.dataset_measure import Statistics
from model.atlas.measure_dataset import MeasureOptions, measure_dataset, measure_listed_inputs
from model.atlas.results import EXAMPLES, HEADS, LAYERS, read_heads, read_layers, read_rows
from model.capture import capture
from model.checkpoint import load, save, weights_hash
from model.inputs import Text
from model.measures.head_statistics import STATISTICS, statistics
from tests.model import tiny
from tests.model.atlas.ended import KilledError, end_at
from tests.model.tiny import CLOSE

TEXTS = tuple(f"{a} {b} film" for a in ("great", "not", "x y") for b in ("a", "b c", "not", "d e f"))


@pytest.fixture
def csv(tmp_path) -> Path:
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(TEXTS))
    return path


@pytest.mark.parametrize("shard", [1, 1024])
def test_the_share_of_unknown_tokens_is_that_of_all_texts_together(tmp_path, monkeypatch, shard):
    monkeypatch.setattr(module, "Statistics", partial(Statistics, shard=shard))
    texts = ("great", "☃ ☃ film", "not a ☃ film")  # 3 of 8 tokens
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(texts), encoding="utf-8")
    loaded = tiny.stored(tmp_path / "it")
    heads, layers = measure_dataset(
        loaded, examples_for(loaded, tmp_path / "texts.csv"), tmp_path / "out", "command"
    )
    for source in (read_heads(heads).source, read_layers(layers).source):
        assert source.unknown == pytest.approx(3 / 8, rel=1e-12)


def test_heads_and_layers_of_texts(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it")
    written = measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")
    assert written == [tmp_path / "out" / name for name in (HEADS, LAYERS)]
    heads, layers = read_heads(written[0]), read_layers(written[1])
    assert heads.source.weights == (weights_hash(tmp_path / "it"),)
    assert heads.source.unknown == 0
    assert (heads.source.n, heads.source.data, heads.source.command) == (12, "texts.csv", "command")
    assert tuple(heads.spreads) == STATISTICS
    records = [capture(loaded, text) for text in TEXTS]
    values = [statistics(record)["entropy"] for record in records]
    np.testing.assert_allclose(heads.spreads["entropy"].mean, np.mean(values, axis=0), **CLOSE)
    np.testing.assert_allclose(heads.spreads["entropy"].sd, np.std(values, axis=0, ddof=1), **CLOSE)
    np.testing.assert_allclose(
        heads.z, np.mean([record.z.mean(axis=2) for record in records], axis=0), **CLOSE
    )
    assert {name: len(curve.mean) for name, curve in layers.curves.items()} == {
        "norm": 5,
        "uniformity": 5,
        "answer": 5,
        "share": 4,
        "entropy": 2,
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [HEADS, LAYERS]


def test_digits_lie_in_a_grid(tmp_path):
    loaded = tiny.stored(tmp_path / "it", tiny.DIGIT)
    paths = measure_dataset(
        loaded,
        examples_for(loaded, None, 3),
        tmp_path / "out",
        "command",
        MeasureOptions(extra=("examples",), show_data=True),
    )
    heads = read_heads(paths[0])
    assert heads.source.unknown is None
    assert set(heads.spreads) == {"entropy", "confidence", "distance", "same", "first", "sink"}
    rows = read_rows(paths[2]).rows
    assert (rows.query_token.str[0] == "r").all()
    assert set(rows.before) | set(rows.between) | set(rows.after) == {""}


def test_how_many_texts_have_what_not_all_have_is_stored(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it")
    csv.write_text('text\ngreat\n""\ngreat film\n[SEP]\n')  # two of them without a word
    heads = read_heads(measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")[0])
    assert dict(heads.source.samples) == {"confidence": 2}


def test_a_text_without_a_token_is_named(tmp_path, csv):
    made = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    made.tokenizer.post_processor = None
    save(tmp_path / "it", made.model, {}, made.tokenizer)
    csv.write_text('text\ngreat\n" "\n')
    loaded = load(tmp_path / "it", "cpu")
    with pytest.raises(ValueError, match="example 2: it finds no token in this text"):
        measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")


# Ended and run again


@pytest.mark.parametrize("killed_at", [1, 3, 5])
def test_what_is_ended_goes_on_and_comes_to_the_same(tmp_path, csv, monkeypatch, killed_at):
    monkeypatch.setattr(module, "Statistics", partial(Statistics, shard=2))
    loaded = tiny.stored(tmp_path / "it")
    measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "unbroken", "command")
    begun = end_at(monkeypatch, Statistics, killed_at)
    with pytest.raises(KilledError):
        measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")
    assert not (tmp_path / "out" / HEADS).exists()
    measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")
    assert begun == [*range(killed_at + 1), *range(killed_at, 6)]
    for name in (HEADS, LAYERS):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes()


@pytest.mark.parametrize("changed", ["data", "weights", "limit", "damage"])
def test_what_was_measured_of_something_else_is_measured_anew(tmp_path, csv, monkeypatch, changed):
    monkeypatch.setattr(module, "Statistics", partial(Statistics, shard=2))
    loaded = tiny.stored(tmp_path / "it")
    begun = end_at(monkeypatch, Statistics, 2)
    with pytest.raises(KilledError):
        measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")
    limit = 10 if changed == "limit" else None
    if changed == "data":
        csv.write_text(csv.read_text() + "\nfilm")
    elif changed == "weights":
        loaded = tiny.stored(tmp_path / "it", seed=3)
    elif changed == "damage":
        (path,) = (tmp_path / "out").iterdir()
        path.write_bytes(path.read_bytes()[:50])
    measure_dataset(loaded, examples_for(loaded, csv, limit), tmp_path / "out", "command")
    assert begun[3] == 0


# Examples


def test_the_strongest_examples_are_of_our_own_sentences(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it")
    path = measure_dataset(
        loaded, examples_for(loaded, csv), tmp_path / "out", "c", MeasureOptions(extra=("examples",))
    )[2]
    assert path.name == EXAMPLES
    source = read_rows(path).source
    assert source.data == OWN_NAME
    assert source.n > 100


def test_the_strongest_examples_in_context(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it")
    wanted = MeasureOptions(extra=("examples",), show_data=True)
    rows = read_rows(
        measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "c", wanted)[2]
    ).rows
    assert len(rows) == 2 * 2 * 5
    records = {number: capture(loaded, text) for number, text in enumerate(TEXTS, 1)}
    for (layer, head), of_head in rows.groupby(["layer", "head"]):
        assert of_head["rank"].tolist() == [0, 1, 2, 3, 4]
        assert of_head.number.is_unique

        def words(record, layer=layer, head=head):
            inner = slice(1, len(record) - 1)  # without class token and separator
            return record.pattern[layer, head, inner, inner]

        largest = sorted((float(words(record).max()) for record in records.values()), reverse=True)
        assert of_head.weight.tolist() == pytest.approx(largest[:5], rel=1e-4)
        for row in of_head.itertuples():
            record = records[row.number]
            assert record.pattern[layer, head, row.query, row.key] == pytest.approx(row.weight, rel=1e-4)
            assert (record.tokens[row.query], record.tokens[row.key]) == (row.query_token, row.key_token)
            first, second = sorted((row.query, row.key))
            texts = record.without_prefix(record.tokens)
            pieces = [texts[position] for position in dict.fromkeys((first, second))]
            between = row.between + pieces[1] if first != second else ""
            assert row.before + pieces[0] + between + row.after == TEXTS[row.number - 1]


# Inputs in memory


def test_listed_inputs_are_measured_as_a_file_of_them(tmp_path, csv):
    loaded = tiny.stored(tmp_path / "it")
    measure_dataset(loaded, examples_for(loaded, csv), tmp_path / "out", "command")
    expected = read_heads(tmp_path / "out" / HEADS)
    steps: list[int] = []
    heads = measure_listed_inputs(loaded, list(map(Text, TEXTS)), "own texts", "page", steps.append)
    assert set(heads.spreads) == set(expected.spreads)
    for name, spread in expected.spreads.items():
        np.testing.assert_allclose(heads.spreads[name].mean, spread.mean, rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(heads.spreads[name].sd, spread.sd, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(heads.z, expected.z, rtol=1e-6)
    own = {"data": "own texts", "command": "page", "sha256": heads.source.sha256}
    assert heads.source == replace(expected.source, **own)
    assert sum(steps) == 12


def test_one_input_has_no_spread(tmp_path):
    with pytest.raises(ValueError, match="a spread needs two inputs at least, got 1"):
        measure_listed_inputs(tiny.stored(tmp_path / "it"), [Text("film")], "a", "b", lambda _: None)
