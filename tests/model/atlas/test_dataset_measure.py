"""A batch that is reduced on the way comes to what the records of its examples come to."""

from dataclasses import replace

import numpy as np
import pytest

from model.atlas.dataset_examples import Shard
from model.atlas.dataset_measure import CURVES, HEADS, Z, batch_moments, batches
from model.atlas.running_moments import merge
from model.capture import capture
from model.experiments import batching, residual_stream
from model.experiments.batching import batches_of_equal_length
from model.hooks import watch
from model.inputs import as_input
from model.inputs.digits import examples
from model.measures.head_measures import mean_entropy
from model.measures.head_statistics import statistics
from tests.model import tiny
from tests.model.tiny import CLOSE

TEXTS = (
    "great film",
    "film great",
    "not a great film",
    "x y z",
    "a",
    "great films not x",
    "film [SEP] great",
)


def gathered(loaded, inputs):
    result = {}
    shard = Shard(number=0, numbers=tuple(range(1, len(inputs) + 1)), inputs=tuple(map(as_input, inputs)))
    for _, batch, positions in batches(loaded, shard):
        merge(result, batch_moments(loaded, batch, positions))
    return result


def check(result, values):
    values = np.array(values, float)
    np.testing.assert_allclose(result.mean, np.mean(values, axis=0), **CLOSE)
    np.testing.assert_allclose(result.spread.sd, np.std(values, axis=0, ddof=1), **CLOSE)
    assert (result.n == len(values)).all()


ENCODERS = {
    "pre": tiny.TEXT,
    "post": replace(tiny.TEXT, norm_placement="post", final_norm=False),
    "deepnorm": replace(tiny.TEXT, norm_placement="deepnorm", final_norm=False),
    "b2t": replace(tiny.TEXT, norm_placement="b2t", final_norm=False),
    "no skip": replace(tiny.TEXT, residual=False),
    "mean": replace(tiny.TEXT, pooling="mean", positions="learned"),
    "digit": tiny.DIGIT,
    "digit without class token": replace(tiny.DIGIT, n_positions=4, pooling="max"),
}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("config", ENCODERS.values(), ids=ENCODERS)
def test_it_is_what_the_records_come_to(config):
    loaded = tiny.loaded(config)
    inputs = TEXTS if config.is_text else [examples()[0][index] for index in range(5)]
    records = [capture(loaded, model_input) for model_input in inputs]
    result = gathered(loaded, inputs)
    by_record = [statistics(record) for record in records]
    for name in by_record[0]:
        check(result[HEADS + name], [item[name] for item in by_record])
    assert {name.removeprefix(HEADS) for name in result if name.startswith(HEADS)} - {"separator"} == set(
        by_record[0]
    ) - {"separator"}
    past = [residual_stream.skip_terms(loaded.model, record.residual) for record in records]
    outputs = [residual_stream.sublayer_outputs(loaded, model_input) for model_input in inputs]
    check(
        result[CURVES + "share"], [residual_stream.shares(*both) for both in zip(past, outputs, strict=True)]
    )
    check(result[CURVES + "norm"], [residual_stream.mean_norms(record.residual) for record in records])
    check(result[CURVES + "uniformity"], [residual_stream.uniformity(record.residual) for record in records])
    check(result[CURVES + "answer"], [residual_stream.predicted_probability(record) for record in records])
    entropies = [mean_entropy(record.pattern, record.mask).mean(axis=-1) for record in records]
    check(result[CURVES + "entropy"], entropies)
    check(result[Z], [record.z.mean(axis=2) for record in records])


def test_heads_by_hand():
    """Three tokens, of which the first head looks at the one before, and the second at all alike."""
    loaded = tiny.loaded(replace(tiny.TEXT, n_layers=1))
    before = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    scores = np.stack([np.log(before + 1e-20), np.zeros((3, 3), np.float32)])

    def replaced(activation):
        return activation.new_tensor(scores).expand_as(activation)

    with watch(loaded.model, {"blocks.0.attention.scores": replaced}):
        result = gathered(loaded, ["great", "film"])
    by_name = {
        "entropy": (0, 1),
        "previous": (2 / 3, 2 / 9),
        "next": (0, 2 / 9),
        "same": (1 / 3, 1 / 3),
        "first": (2 / 3, 1 / 3),
        "separator": (0, 1 / 3),
        "sink": (2 / 3, 1 / 3),
        "confidence": (1, 1 / 3),
        "distance": (2 / 3, 8 / 9),
    }
    for name, expected in by_name.items():
        assert result[HEADS + name].mean[0] == pytest.approx(expected, abs=1e-5), name


def test_padding_that_was_typed_is_no_part_of_the_means():
    loaded = tiny.loaded(tiny.TEXT)
    texts = ["great [PAD] film", "film [PAD] [PAD]", "not a film"]
    records = [capture(loaded, text) for text in texts]
    result = gathered(loaded, texts)
    for name in ("entropy", "confidence", "distance", "same", "sink"):
        check(result[HEADS + name], [statistics(record)[name] for record in records])
    real = [
        record.z[:, :, [index for index, role in enumerate(record.roles) if role != "padding"]]
        for record in records
    ]
    check(result[Z], [z.mean(axis=2) for z in real])


def test_without_a_word_there_is_no_confidence():
    loaded = tiny.loaded(tiny.TEXT)
    result = gathered(loaded, ["", "great film", "film"])
    assert (result[HEADS + "confidence"].n == 2).all()
    assert (result[HEADS + "entropy"].n == 3).all()


def test_without_classes_there_is_no_answer():
    result = gathered(tiny.loaded(replace(tiny.TEXT, class_names=())), TEXTS)
    assert CURVES + "answer" not in result
    assert CURVES + "norm" in result


def test_batches_are_of_one_length_and_leave_nothing_out(monkeypatch):
    monkeypatch.setattr(batching, "NUMBERS_AT_ONCE", 2 * 4 * 16)
    assert list(batches_of_equal_length(tiny.TEXT, [3, 4, 3, 4, 3, 4])) == [[1, 3], [5], [0, 2], [4]]
