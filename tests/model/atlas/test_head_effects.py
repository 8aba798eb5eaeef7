"""What counts, over a data set, beside the same computed one example at a time from the functions for one input."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model.atlas import head_effects as module
from model.atlas.dataset_examples import Examples, Shard, examples_for
from model.atlas.head_effects import (
    CORRELATION,
    NOISE,
    Ablation,
    Faithfulness,
    Importance,
    LabelledInputs,
    MeanParts,
    faithfulness_rows,
    mean_parts_rows,
    pruning_rows,
    split_for_pruning,
)
from model.atlas.parquet import DataSource
from model.atlas.results import PARTS, ResultTable, read_rows, write_results
from model.atlas.run import PartialResult
from model.atlas.running_moments import Arrays, Moments, from_arrays, to_arrays
from model.capture import capture
from model.checkpoint import load, weights_hash
from model.decompositions.answer_parts import answer_parts
from model.experiments.ablation import ablated, importance
from model.experiments.knock_out import knock_out, log_odds_falls, removable_positions
from model.experiments.probabilities import probabilities
from model.experiments.pruning import greedy
from model.inputs import Text, as_input
from model.lenses import LENSES
from model.measures.changes import cosine_distance
from tests.model import tiny
from tests.model.tiny import CLOSE

TEXTS = ("great film", "not a great film", "x y z", "great films not x y")
MEANS = np.random.default_rng(0).normal(size=(2, 2, 4)).astype(np.float32)


def shard(inputs=TEXTS) -> Shard:
    numbers = tuple(range(1, len(inputs) + 1))
    return Shard(number=0, numbers=numbers, inputs=tuple(map(as_input, inputs)))


def measured_arrays(measure, loaded, inputs=TEXTS) -> Arrays:
    steps = []
    result = measure.measure_shard(loaded, shard(inputs), steps.append)
    assert sum(steps) == len(inputs)
    return result


def measured(measure, loaded) -> dict[str, Moments]:
    return from_arrays(measured_arrays(measure, loaded))


def test_importance_is_the_mean_over_examples():
    loaded = tiny.loaded(tiny.TEXT)
    (result,) = measured(Importance(), loaded).values()
    values = np.stack([importance(loaded, [text])[0] for text in TEXTS])
    np.testing.assert_allclose(result.mean, values.mean(axis=0), **CLOSE)
    np.testing.assert_allclose(result.spread.sd, values.std(axis=0, ddof=1), **CLOSE)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("has_classes", [True, False])
def test_ablation_is_how_far_the_answer_moves(has_classes):
    loaded = tiny.loaded(tiny.TEXT if has_classes else replace(tiny.TEXT, class_names=()))
    result = measured(Ablation.from_means(MEANS), loaded)
    for name, means in (("zero", None), ("mean", MEANS)):
        for layer, head in np.ndindex(2, 2):
            moved = []
            for text in TEXTS:
                record = capture(loaded, text)
                without = ablated(heads=[(layer, head)], means=means)
                before, after = probabilities(loaded, [text], [ablated(), without])[0].astype(float)
                if has_classes:
                    index = record.logits.argmax()
                    moved.append(
                        abs(
                            np.log(after[index] / (1 - after[index]))
                            - np.log(before[index] / (1 - before[index]))
                        )
                    )
                else:
                    moved.append(float(cosine_distance(before, after)))
            assert result[name].mean[layer, head] == pytest.approx(np.mean(moved), rel=1e-3, abs=1e-6)


def test_other_means_are_another_measure():
    assert repr(Ablation.from_means(MEANS)) == repr(Ablation.from_means(MEANS.copy()))
    assert repr(Ablation.from_means(MEANS)) != repr(Ablation.from_means(MEANS + 1))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("config", [tiny.TEXT, replace(tiny.TEXT, class_names=()), tiny.DIGIT])
def test_faithfulness_of_every_lens(config):
    loaded = tiny.loaded(config)
    rng = np.random.default_rng(0)
    inputs = TEXTS if config.is_text else tuple(rng.integers(0, 256, (3, 8, 8), np.uint8))
    arrays = Faithfulness().measure_shard(loaded, shard(inputs), lambda _: None)
    rows = faithfulness_rows(arrays)
    assert rows.lens.unique().tolist() == [*LENSES, NOISE]
    reasons = rows[["told", "too_few", "unmoved", "no_sooner"]]
    assert (reasons.sum(axis=1) == len(inputs)).all()
    assert (reasons.too_few > 0).all()  # of 4 patches, and of short texts, none can be told
    for lens, of_lens in rows[rows.lens != NOISE].groupby("lens"):
        assert len(of_lens) == (4 if LENSES[lens].has_heads else 2)
        assert of_lens["head"].isna().all() != LENSES[lens].has_heads
    assert rows.share.dropna().between(0, 1).all()
    assert rows.spearman_mean.dropna().between(-1, 1).all()
    assert (rows.n <= len(inputs)).all()


def test_correlation_with_knock_outs_by_hand():
    loaded = tiny.loaded(tiny.TEXT)
    result = measured(Faithfulness(), loaded)[CORRELATION + "attention"]
    by_text = []
    for text in TEXTS:
        record = capture(loaded, text)
        positions = list(removable_positions(record))
        effect = log_odds_falls(record, knock_out(loaded, text, "keys", positions, "logits"))
        weights = record.pattern[1, 0, 0, positions]  # the class token is classified
        ranks = [np.argsort(np.argsort(array)) for array in (weights, effect)]
        by_text.append(np.corrcoef(*ranks)[0, 1])
    assert result.mean[1, 0] == pytest.approx(np.mean(by_text))


def test_shares_are_of_the_examples_on_which_it_can_be_told():
    """Five examples: on one nothing can be ranked, on two more not even the perfect map passes."""
    nan = np.nan
    of_example = np.array([0.9, nan, 0.1, 0.5, 0.5])[:, None, None]
    readable = np.array([1.0, nan, 0.0, nan, nan])[:, None, None]
    counted = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]], dtype=float)
    moments = {"correlation/attention": of_example, "readable/attention": readable, "counted/": counted}
    (row,) = faithfulness_rows(
        to_arrays({name: Moments.from_examples(values) for name, values in moments.items()})
    ).itertuples()
    assert (row.n, row.share, row.spearman_mean) == (4, 0.5, pytest.approx(0.5))
    assert (row.told, row.too_few, row.unmoved, row.no_sooner) == (2, 1, 1, 1)


CHOOSING = LabelledInputs(("great film", "x y z", "a film"), (1, 1, 1))
JUDGING = LabelledInputs(("not a great film", "great films not x y", "not", "film film"), (0, 0, 0, 1))
HEAD_MEANS = np.random.default_rng(0).normal(size=(2, 2, 4))


def texts(folder: Path, n: int) -> Examples:
    """Of 1 to `n` letters, every third of them positive."""
    rows = [f"{'a ' * letters},{int(letters % 3 == 0)}" for letters in range(1, n + 1)]
    path = folder / "texts.csv"
    path.write_text("\n".join(["text,label", *rows]))
    return examples_for(tiny.loaded(tiny.TEXT), path)


def numbers(part: LabelledInputs) -> list[int]:
    """Of the examples, from 1."""
    assert all(isinstance(model_input, Text) for model_input in part.inputs)
    result = [model_input.text.count("a") for model_input in part.inputs]
    assert list(part.labels) == [int(n % 3 == 0) for n in result]
    return result


@pytest.mark.parametrize(("sample", "expected"), [(6, [1, 5, 9]), (256, [1, 3, 5, 7, 9, 11])])
def test_all_that_do_not_choose_judge(tmp_path, sample, expected):
    """Every second of a sample chooses: of 1, 3, 5, ..., or of all."""
    choosing, judging = split_for_pruning(tiny.loaded(tiny.TEXT), texts(tmp_path, 12), sample)
    assert numbers(choosing) == expected
    assert sorted([*numbers(choosing), *numbers(judging)]) == list(range(1, 13))


def test_of_many_some_at_equal_distances_judge(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "JUDGES", 10)
    choosing, judging = split_for_pruning(tiny.loaded(tiny.TEXT), texts(tmp_path, 100), 8)
    assert len(judging.labels) == 10
    assert not set(numbers(choosing)) & set(numbers(judging))
    assert np.diff([0, *numbers(judging), 101]).max() < 25


@pytest.mark.slow
def test_some_choose_and_others_judge(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    rows = pruning_rows(loaded, CHOOSING, JUDGING, HEAD_MEANS, PartialResult(tmp_path / "it.part"))
    assert rows.how.tolist() == ["zero"] * 5 + ["mean"] * 5
    for how, ways in (("zero", "zero"), ("mean", HEAD_MEANS.astype(np.float32))):
        steps = list(greedy(loaded, *CHOOSING, ways, judged=JUDGING))
        result = rows[rows.how == how]
        assert result.step.tolist() == [step.step for step in steps]
        assert result.loss.tolist() == pytest.approx([step.loss for step in steps])
        for name in ("accuracy", "turned_wrong", "turned_right"):
            assert result[name].tolist() == [getattr(step, name) for step in steps]
        assert result["layer"].tolist()[1:] == [step.layer for step in steps[1:]]
        assert np.isnan(result["layer"].iloc[0])


@pytest.mark.rest_is_slow
@pytest.mark.slow
@pytest.mark.parametrize("ended_after", [1, 0, 3, 5, 8])
def test_what_is_ended_goes_on_with_the_next_head(tmp_path, monkeypatch, ended_after):
    loaded = tiny.loaded(tiny.TEXT)
    unbroken = pruning_rows(loaded, CHOOSING, JUDGING, HEAD_MEANS, PartialResult(tmp_path / "unbroken.part"))
    taken = []

    def ending(*args, **kwargs):
        for step in greedy(*args, **kwargs):
            if len(taken) == ended_after:
                raise KeyboardInterrupt
            taken.append(step)
            yield step

    with monkeypatch.context() as patched:
        patched.setattr(module, "greedy", ending)
        with pytest.raises(KeyboardInterrupt):
            pruning_rows(loaded, CHOOSING, JUDGING, HEAD_MEANS, PartialResult(tmp_path / "it.part"))
    done, _ = PartialResult(tmp_path / "it.part").load()
    assert done == ended_after
    again = pruning_rows(loaded, CHOOSING, JUDGING, HEAD_MEANS, PartialResult(tmp_path / "it.part"))
    assert again.equals(unbroken)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("config", [tiny.TEXT, replace(tiny.TEXT, class_names=())])
def test_means_over_two_shards_are_those_of_the_examples(config, tmp_path):
    loaded = tiny.loaded(config)
    arrays = MeanParts().merged(
        *(measured_arrays(MeanParts(), loaded, texts) for texts in (TEXTS[:1], TEXTS[1:]))
    )
    source = DataSource(command="c", data="d", sha256="e", n=4, weights=("w",))
    write_results(tmp_path / PARTS, ResultTable(source=source, rows=mean_parts_rows(arrays, loaded.config)))
    rows = read_rows(tmp_path / PARTS).rows
    frames = [answer_parts(loaded, text).frame.dropna(subset="layer") for text in TEXTS]
    assert rows["kind"].tolist() == ["head", "head", "feed-forward"] * 2 == frames[0]["kind"].tolist()
    for name in ("layer", "head"):
        assert rows[name].astype("Int64").equals(frames[0][name].reset_index(drop=True))
    values = np.array([frame["value"] for frame in frames])
    np.testing.assert_allclose(rows["mean"], values.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(rows["sd"], values.std(axis=0, ddof=1), atol=1e-6)
    np.testing.assert_allclose(rows["mean_abs"], np.abs(values).mean(axis=0), atol=1e-6)
    assert rows["n"].tolist() == [4] * 6


def test_an_example_that_cannot_be_read_is_named():
    loaded = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    loaded.tokenizer.post_processor = None
    with pytest.raises(ValueError, match="example 2: tiny finds no token in this text"):
        measured_arrays(MeanParts(), loaded, ("great", " "))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", ["imdb-pre-ln", "imdb-post-ln"])
def test_the_stored_parts_are_of_the_weights_that_are_shipped(name):
    """Of pre-LN every layer has a say, of post-LN the last."""
    folder = Path("checkpoints") / name
    table = read_rows(folder / PARTS)
    assert table.source.weights == (weights_hash(folder),)
    config = load(folder).config
    assert len(table.rows) == config.n_layers * (config.n_heads + 1)
    assert set(table.rows["n"]) == {table.source.n} == {256}
    share = table.rows.query("layer < 2")["mean_abs"].sum() / table.rows["mean_abs"].sum()
    assert share > 0.1 if name == "imdb-pre-ln" else share < 0.05
