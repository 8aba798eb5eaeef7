from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import jensenshannon

from model.atlas.dataset_examples import Examples, examples_for
from model.atlas.two_encoders import compare_encoders
from model.capture import capture
from model.experiments.similarity import digit_states, linear_cka
from model.inputs.digits import examples
from tests.model import tiny
from tests.model.tiny import CLOSE

TEXTS = ("great film", "not a great film", "x y z", "a", "film not film")


@pytest.fixture
def texts(tmp_path) -> Examples:
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(TEXTS))
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
    records = [(capture(one, text), capture(other, text)) for text in TEXTS]
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
