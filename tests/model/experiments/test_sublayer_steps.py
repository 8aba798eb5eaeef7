import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from model.activations import ACTIVATIONS
from model.experiments.sublayer_steps import (
    apply_activation,
    apply_linear,
    apply_norm,
    feed_forward_steps,
    largest_indices,
    norm_steps,
    weight_and_bias,
)
from model.parts.block import GatedFeedForward, GroupedLinear
from model.transformer import FeedForward
from tests.model import tiny

X = np.array([3.0, 1.0, -1.0, 5.0])
CONFIG = replace(tiny.TEXT, d_model=2, d_ff=2, activation="relu", n_heads=1, d_k=2, d_v=2)


def with_gain(layer: nn.Module) -> nn.Module:
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    return layer


def test_layer_norm_by_hand() -> None:
    layer = with_gain(nn.LayerNorm(4, eps=1e-3))
    with torch.no_grad():
        layer.bias.fill_(0.5)
    norm = norm_steps(X, layer)
    assert (norm.name, norm.has_shift, norm.mean) == ("LayerNorm", True, 2)
    assert norm.variance == 5  # of 1, -1, -3 and 3
    assert norm.deviation == pytest.approx(math.sqrt(5.001))
    np.testing.assert_allclose(norm.out, np.array([1, -2, -9, 12]) / math.sqrt(5.001) + 0.5)


def test_rms_norm_subtracts_no_mean_and_adds_no_shift() -> None:
    norm = norm_steps(X, with_gain(nn.RMSNorm(4, eps=0.1)))
    assert (norm.name, norm.has_shift, norm.mean) == ("RMSNorm", False, 0)
    assert norm.variance == 9  # the mean of 9, 1, 1 and 25
    np.testing.assert_allclose(norm.out, np.array([3, 2, -3, 20]) / math.sqrt(9.1))


def test_a_layer_norm_without_bias_has_no_shift() -> None:
    norm = norm_steps(X, with_gain(nn.LayerNorm(4, bias=False)))
    assert not norm.has_shift
    assert not norm.shift.any()


def test_without_a_norm_rows_stay_as_they_are() -> None:
    rows = np.array([X, 2 * X])
    assert apply_norm(rows, nn.Identity()) is rows
    np.testing.assert_allclose(apply_norm(rows, nn.RMSNorm(4, eps=0.0)), [X / 3, X / 3])


def set_weights(layer: FeedForward, **weights: list[list[float]]) -> FeedForward:
    with torch.no_grad():
        for name, rows in weights.items():
            getattr(layer, name).weight.copy_(torch.tensor(rows).T)
            getattr(layer, name).bias.zero_()
    return layer


def test_without_a_gate_what_is_hidden_is_what_was_activated() -> None:
    eye = [[1.0, 0.0], [0.0, 1.0]]
    steps = feed_forward_steps(
        np.array([2.0, -1.0]), set_weights(FeedForward(CONFIG), expand=eye, contract=eye)
    )
    assert steps.gate is None
    np.testing.assert_array_equal(steps.before, [2, -1])
    np.testing.assert_array_equal(steps.hidden, [2, 0])
    np.testing.assert_array_equal(steps.out, [2, 0])


def test_a_gate_multiplies_each_activation() -> None:
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


def test_of_equal_numbers_the_first_comes_first() -> None:
    assert largest_indices(np.array([1.0, 3.0, 3.0, 2.0]), 3) == [1, 2, 3]


def test_a_linear_map_without_bias_adds_zeros() -> None:
    layer = nn.Linear(2, 3, bias=False)
    weight, bias = weight_and_bias(layer)
    assert weight.dtype == bias.dtype == np.dtype(float)
    assert weight.shape == (2, 3)
    assert bias.tolist() == [0, 0, 0]


def test_of_shared_keys_each_head_has_a_copy() -> None:
    layer = GroupedLinear(2, n_heads=4, n_groups=2, d_head=1)
    x = np.array([[1.0, -2.0]])
    keys = apply_linear(x, layer)[0]
    assert keys[0] == keys[1] != keys[2] == keys[3]
    np.testing.assert_allclose(keys, layer(torch.tensor(x, dtype=torch.float32))[0].detach(), rtol=1e-5)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_those_of_torch(name: str) -> None:
    x = np.linspace(-4, 4, 33)
    layer = ACTIVATIONS[name]()
    np.testing.assert_allclose(apply_activation(x, layer), layer(torch.tensor(x)), rtol=1e-9, atol=1e-12)
