import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import nn

from model.activations import ACTIVATIONS
from model.experiments.sublayer_steps import (
    EPSILON,
    apply_activation,
    apply_linear,
    apply_norm,
    feed_forward_steps,
    largest_indices,
    norm_steps,
    normalise,
    sample_deviation,
    weight_and_bias,
)
from model.parts.block import GatedFeedForward, GroupedLinear
from model.transformer import FeedForward
from tests.model import tiny

X = np.array([3.0, 1.0, -1.0, 5.0])
CONFIG = replace(tiny.TEXT, d_model=2, d_ff=2, activation="relu", n_heads=1, d_k=2, d_v=2)
EXAMPLE = np.array([[0.5, -3, 8.5]])
MATRICES = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 8)),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)


def with_gain(layer: nn.Module) -> nn.Module:
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    return layer


def test_layer_norm_by_hand():
    layer = with_gain(nn.LayerNorm(4, eps=1e-3))
    with torch.no_grad():
        layer.bias.fill_(0.5)
    norm = norm_steps(X, layer)
    assert (norm.name, norm.has_shift, norm.mean) == ("LayerNorm", True, 2)
    assert norm.variance == 5  # of 1, -1, -3 and 3
    assert norm.deviation == pytest.approx(math.sqrt(5.001))
    np.testing.assert_allclose(norm.out, np.array([1, -2, -9, 12]) / math.sqrt(5.001) + 0.5)


def test_rms_norm_subtracts_no_mean_and_adds_no_shift():
    norm = norm_steps(X, with_gain(nn.RMSNorm(4, eps=0.1)))
    assert (norm.name, norm.has_shift, norm.mean) == ("RMSNorm", False, 0)
    assert norm.variance == 9  # the mean of 9, 1, 1 and 25
    np.testing.assert_allclose(norm.out, np.array([3, 2, -3, 20]) / math.sqrt(9.1))


def test_a_layer_norm_without_bias_has_no_shift():
    norm = norm_steps(X, with_gain(nn.LayerNorm(4, bias=False)))
    assert not norm.has_shift
    assert not norm.shift.any()


def test_without_a_norm_rows_stay_as_they_are():
    rows = np.array([X, 2 * X])
    assert apply_norm(rows, nn.Identity()) is rows
    np.testing.assert_allclose(apply_norm(rows, nn.RMSNorm(4, eps=0.0)), [X / 3, X / 3])


def set_weights(layer: FeedForward, **weights: list[list[float]]) -> FeedForward:
    with torch.no_grad():
        for name, rows in weights.items():
            getattr(layer, name).weight.copy_(torch.tensor(rows).T)
            getattr(layer, name).bias.zero_()
    return layer


def test_without_a_gate_what_is_hidden_is_what_was_activated():
    eye = [[1.0, 0.0], [0.0, 1.0]]
    steps = feed_forward_steps(
        np.array([2.0, -1.0]), set_weights(FeedForward(CONFIG), expand=eye, contract=eye)
    )
    assert steps.gate is None
    np.testing.assert_array_equal(steps.before, [2, -1])
    np.testing.assert_array_equal(steps.hidden, [2, 0])
    np.testing.assert_array_equal(steps.out, [2, 0])


def test_a_gate_multiplies_each_activation():
    layer = set_weights(
        GatedFeedForward(CONFIG),
        expand=[[1.0, 0.0], [0.0, -3.0]],
        gate=[[0.0, 1.0], [1.0, 0.0]],
        contract=[[1.0, 1.0], [0.0, 2.0]],
    )
    steps = feed_forward_steps(np.array([2.0, -1.0]), layer)
    np.testing.assert_array_equal(steps.before, [2, 3])
    np.testing.assert_array_equal(steps.activated, [2, 3])
    np.testing.assert_array_equal(steps.gate, [-1, 2])
    np.testing.assert_array_equal(steps.hidden, [-2, 6])
    np.testing.assert_array_equal(steps.by_unit, [[-2, -2], [0, 12]])
    np.testing.assert_array_equal(steps.out, [-2, 10])
    assert steps.strongest(1) == [1]


def test_of_equal_numbers_the_first_comes_first():
    assert largest_indices(np.array([1.0, 3.0, 3.0, 2.0]), 3) == [1, 2, 3]


def test_a_linear_map_without_bias_adds_zeros():
    layer = nn.Linear(2, 3, bias=False)
    weight, bias = weight_and_bias(layer)
    assert weight.dtype == bias.dtype == np.dtype(float)
    assert weight.shape == (2, 3)
    assert bias.tolist() == [0, 0, 0]


def test_of_shared_keys_each_head_has_a_copy():
    layer = GroupedLinear(2, n_heads=4, n_groups=2, d_head=1)
    x = np.array([[1.0, -2.0]])
    keys = apply_linear(x, layer)[0]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    np.testing.assert_allclose(keys, layer(torch.tensor(x, dtype=torch.float32))[0].detach(), rtol=1e-5)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_torch(name):
    x = np.linspace(-4, 4, 33)
    layer = ACTIVATIONS[name]()
    np.testing.assert_allclose(apply_activation(x, layer), layer(torch.tensor(x)), rtol=1e-9, atol=1e-12)


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


@pytest.mark.parametrize(
    ("over", "norm"), [("features", torch.nn.LayerNorm), ("batch", torch.nn.BatchNorm1d)]
)
@given(values=MATRICES.filter(lambda values: len(values) > 1))  # torch refuses a batch of one
def test_it_is_the_norm_of_torch(over, norm, values):
    torch_norm = norm(values.shape[1], dtype=torch.float64)
    assert torch_norm.eps == EPSILON
    expected = torch_norm(torch.tensor(values)).detach().numpy()
    np.testing.assert_allclose(normalise(values, over).output, expected, rtol=1e-6, atol=1e-7)


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
