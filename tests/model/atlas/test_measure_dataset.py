"""The whole: from a checkpoint and data to the files, also where it is ended on the way."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import jensenshannon

import model.atlas.measure_dataset as module
from model.atlas.dataset_examples import OWN_NAME, Examples, examples_for
from model.atlas.dataset_measure import Statistics
from model.atlas.measure_dataset import (
    MeasureOptions,
    compare_encoders,
    measure_dataset,
    measure_listed_inputs,
)
from model.atlas.results import EXAMPLES, HEADS, LAYERS, read_heads, read_layers, read_rows
from model.capture import capture
from model.checkpoint import load, save, weights_hash
from model.experiments.residual_stream import digit_states, linear_cka
from model.inputs import Text
from model.inputs.digits import examples
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


@pytest.mark.slow
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


@pytest.mark.rest_is_slow
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


@pytest.mark.rest_is_slow
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


COMPARED_TEXTS = ("great film", "not a great film", "x y z", "a", "film not film")


@pytest.fixture
def texts(tmp_path) -> Examples:
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(COMPARED_TEXTS))
    return examples_for(tiny.loaded(tiny.TEXT), path, 10, "texts")


def by_scipy(first, second):
    """Head distances [one, other] of two records, row by row."""
    ones, others = (
        record.pattern.reshape(-1, len(record), len(record)).astype(float) for record in (first, second)
    )
    a, b = (0.999 * pattern + 0.001 / len(first) for pattern in (ones, others))
    return np.array([[np.mean(jensenshannon(x, y, axis=1) ** 2) for y in b] for x in a])


def test_two_encoders_of_text(tmp_path, texts):
    one = tiny.stored(tmp_path / "of-seed-0", tiny.TEXT, 0)
    other = tiny.stored(
        tmp_path / "of-seed-1",
        replace(tiny.TEXT, norm_placement="post", final_norm=False, n_layers=1, n_heads=3),
        1,
    )
    comparison = compare_encoders(one, other, texts, "command")
    assert comparison.shapes == ((2, 2), (1, 3))
    records = [(capture(one, text), capture(other, text)) for text in COMPARED_TEXTS]
    matrices = [by_scipy(*both) for both in records]
    np.testing.assert_allclose(comparison.distances.mean, np.mean(matrices, axis=0), **CLOSE)
    np.testing.assert_allclose(comparison.distances.sd, np.std(matrices, axis=0, ddof=1), **CLOSE)
    pairs = set(zip(*linear_sum_assignment(np.mean(matrices, axis=0)), strict=True))
    alone = [set(zip(*linear_sum_assignment(matrix), strict=True)) for matrix in matrices]
    assert comparison.persisting_share == pytest.approx(
        np.mean([len(pairs & matched) / 3 for matched in alone])
    )
    halves = [
        set(zip(*linear_sum_assignment(np.mean(matrices[index::2], axis=0)), strict=True)) for index in (0, 1)
    ]
    assert comparison.halves == len(halves[0] & halves[1])
    states = [np.concatenate([both[side].residual for both in records], axis=1) for side in (0, 1)]
    assert comparison.n_states == sum(len(first) for first, _ in records)
    np.testing.assert_allclose(comparison.cka, np.diagonal(linear_cka(*states)), **CLOSE)


def test_of_digits_a_state_each(tmp_path):
    one, other = (tiny.stored(tmp_path / f"of-seed-{seed}", tiny.DIGIT, seed) for seed in (0, 1))
    comparison = compare_encoders(one, other, examples_for(one, None, 10), "command")

    images = examples()[0][::1000]
    cka = np.diagonal(linear_cka(*(digit_states(encoder, images) for encoder in (one, other))))
    assert comparison.n_states == 10
    np.testing.assert_allclose(comparison.cka[1:], cka[1:], **CLOSE)
    assert np.isnan(comparison.cka[0])  # before the first layer all class tokens are one


def test_an_encoder_is_at_no_distance_from_itself(tmp_path, texts):
    one = tiny.stored(tmp_path / "of-seed-0", tiny.TEXT, 0)
    comparison = compare_encoders(one, one, texts, "command")
    assert comparison.pairing.partners.tolist() == [0, 1, 2, 3]
    assert comparison.persisting_share == 1
    assert comparison.halves == 4
    np.testing.assert_allclose(comparison.pairing.distances, 0, atol=1e-6)
    np.testing.assert_allclose(comparison.cka, 1, **CLOSE)


def test_texts_that_are_cut_differently_cannot_be_compared(tmp_path, texts):
    one = tiny.stored(tmp_path / "of-seed-0", tiny.TEXT, 0)
    other = tiny.stored(tmp_path / "of-seed-1", replace(tiny.TEXT, n_positions=5), 1)
    with pytest.raises(ValueError, match="of-seed-0 and of-seed-1 cut example 2 into different tokens"):
        compare_encoders(one, other, texts, "command")


def test_two_examples_at_least(tmp_path, texts):
    one = tiny.stored(tmp_path / "of-seed-0", tiny.TEXT, 0)
    texts.files[0].write_text("text\ngreat\n")
    with pytest.raises(ValueError, match="two examples at least, texts holds 1"):
        compare_encoders(one, one, texts, "command")
