"""What counts, over a data set, beside the same computed one example at a time from the functions for one input."""

from dataclasses import replace

import numpy as np
import pytest

from model.atlas.dataset_examples import Shard
from model.atlas.head_effects import CORRELATION, NOISE, Ablation, Faithfulness, Importance, faithfulness_rows
from model.atlas.running_moments import Moments, from_arrays, to_arrays
from model.capture import capture
from model.experiments.ablation import ablated
from model.experiments.importance import importance
from model.experiments.knock_out import falls, knock_out, removable_positions
from model.experiments.probabilities import probabilities
from model.inputs import as_input
from model.lenses import LENSES
from model.measures.changes import cosine_distance
from tests.model import tiny
from tests.model.tiny import CLOSE

TEXTS = ("great film", "not a great film", "x y z", "great films not x y")
MEANS = np.random.default_rng(0).normal(size=(2, 2, 4)).astype(np.float32)


def shard(inputs=TEXTS) -> Shard:
    numbers = tuple(range(1, len(inputs) + 1))
    return Shard(number=0, numbers=numbers, inputs=tuple(map(as_input, inputs)))


def measured(measure, loaded, inputs=TEXTS):
    steps = []
    result = from_arrays(measure.measure_shard(loaded, shard(inputs), steps.append))
    assert sum(steps) == len(inputs)
    return result


def test_importance_is_the_mean_over_examples():
    loaded = tiny.loaded(tiny.TEXT)
    (result,) = measured(Importance(), loaded).values()
    values = np.stack([importance(loaded, [text])[0] for text in TEXTS])
    np.testing.assert_allclose(result.mean, values.mean(axis=0), **CLOSE)
    np.testing.assert_allclose(result.spread.sd, values.std(axis=0, ddof=1), **CLOSE)


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
        effect = falls(record, knock_out(loaded, text, "keys", positions, "logits"))
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
