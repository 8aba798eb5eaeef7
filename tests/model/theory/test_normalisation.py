import statistics

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from model.theory.normalisation import EPSILON, normalise, sample_deviation

EXAMPLE = np.array([[0.5, -3, 8.5]])
MATRICES = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 8)),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)


def test_the_example_by_hand():
    result = normalise(EXAMPLE, "features", epsilon=0.0)
    assert result.mean.item() == 2
    assert result.variance.item() == pytest.approx((2.25 + 25 + 42.25) / 3)
    assert result.deviation.item() == pytest.approx(4.813176, abs=1e-6)
    np.testing.assert_allclose(result.output, [[-0.311644, -1.038815, 1.350459]], atol=1e-6)


def test_without_the_mean_it_is_rms_norm():
    values = np.array([[3.0, 1.0, -1.0, 5.0]])
    result = normalise(values, "features", subtracts_mean=False)
    assert (result.mean.item(), result.variance.item()) == (0, 9)
    expected = torch.nn.functional.rms_norm(torch.tensor(values), (4,), eps=EPSILON)
    np.testing.assert_allclose(result.output, expected, rtol=1e-12)


def test_a_batch_by_hand():
    result = normalise(np.array([[1.0, 0.0], [3.0, 10.0]]), "batch", epsilon=0.0)
    assert result.mean.tolist() == [[2, 5]]
    assert result.deviation.tolist() == [[1, 5]]
    assert result.output.tolist() == [[-1, -1], [1, 1]]


@given(MATRICES)
def test_over_features_it_is_torch_layer_norm(values):
    torch_norm = torch.nn.LayerNorm(values.shape[1], dtype=torch.float64)
    assert torch_norm.eps == EPSILON
    expected = torch_norm(torch.tensor(values)).detach().numpy()
    np.testing.assert_allclose(normalise(values, "features").output, expected, rtol=1e-6, atol=1e-7)


@given(MATRICES.filter(lambda values: len(values) > 1))  # torch refuses a batch of one
def test_over_the_batch_it_is_torch_batch_norm(values):
    torch_norm = torch.nn.BatchNorm1d(values.shape[1], dtype=torch.float64).train()
    assert torch_norm.eps == EPSILON
    expected = torch_norm(torch.tensor(values)).detach().numpy()
    np.testing.assert_allclose(normalise(values, "batch").output, expected, rtol=1e-6, atol=1e-7)


@given(MATRICES, st.floats(0.5, 20), st.floats(-20, 20))
def test_stretching_and_shifting_a_vector_changes_nothing(values, times, plus):
    before = normalise(values, "features", epsilon=1e-12)
    after = normalise(values * times + plus, "features", epsilon=1e-12)
    clear = before.variance[:, 0] > 1e-3  # or epsilon counts
    np.testing.assert_allclose(after.output[clear], before.output[clear], rtol=1e-5, atol=1e-5)


@given(MATRICES)
def test_the_one_is_the_other_on_the_transposed_matrix(values):
    across, down = normalise(values, "features"), normalise(values.T, "batch")
    np.testing.assert_allclose(across.output, down.output.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("values", [[[3.0, 3.0, 3.0]], [[7.0]]])
def test_without_any_spread_epsilon_keeps_the_division_possible(values):
    result = normalise(np.array(values), "features")
    assert result.variance.item() == 0
    assert result.deviation.item() == pytest.approx(EPSILON**0.5)
    assert not result.output.any()


def test_nothing_cannot_be_averaged():
    with pytest.raises(ValueError, match=r"\(1, 0\)"):
        normalise(np.zeros((1, 0)), "features")


def test_the_deviations_that_take_no_epsilon():
    result = normalise(EXAMPLE, "features")
    assert result.spread.item() == pytest.approx(((2.25 + 25 + 42.25) / 3) ** 0.5)
    assert sample_deviation(EXAMPLE[0]) == pytest.approx(((2.25 + 25 + 42.25) / 2) ** 0.5)
    values = np.random.default_rng(0).random(9)
    assert sample_deviation(values) == pytest.approx(statistics.stdev(values.tolist()))
