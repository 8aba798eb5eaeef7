import numpy as np
import pytest
import torch
from torch import nn

from model.activations import ACTIVATIONS
from model.experiments.double_precision import apply_activation, apply_linear, weight_and_bias
from model.parts.block import GroupedLinear


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
