"""Linear functions behind modules, as functions before them."""

import numpy as np
import pytest
import torch
from torch import nn

from model.activations import QuickGELU
from model.decompositions.linear_maps import LinearFunction, pull_back
from model.parts.pooling import FirstNumbers, UnitLength

MODULES = {
    "linear": nn.Linear(6, 4),
    "without bias": nn.Linear(6, 4, bias=False),
    "LayerNorm": nn.LayerNorm(6),
    "LayerNorm without a bias": nn.LayerNorm(6, bias=False),
    "RMSNorm": nn.RMSNorm(6, eps=1e-5),
    "nothing": nn.Identity(),
    "tanh": nn.Tanh(),
    "ReLU": nn.ReLU(),
    "GELU": nn.GELU(),
    "SiLU": nn.SiLU(),
    "quick GELU": QuickGELU(),
    "unit length": UnitLength(),
    "first numbers": FirstNumbers(3),
    "several": nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.LayerNorm(5), UnitLength()),
}


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
@torch.no_grad()
def test_a_function_is_the_same_number_before_a_module_as_behind_it(module: nn.Module) -> None:
    torch.manual_seed(0)
    for parameter in module.parameters():
        parameter.add_(torch.randn_like(parameter))
    x = torch.randn(3, 6)
    x[0, 0] = 0.0
    y = module(x)
    behind = LinearFunction(torch.randn(2, *y.shape), torch.randn(2))
    before = pull_back(module, x, behind)
    expected, got = (
        (g * vectors).sum(dim=(1, 2)) + constant for (g, constant), vectors in ((behind, y), (before, x))
    )
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_a_norms_divisor_is_held() -> None:
    norm = nn.LayerNorm(4, bias=False)
    x = torch.tensor([[1.0, 2.0, 4.0, 9.0]])
    weights, _ = pull_back(norm, x, LinearFunction(torch.tensor([[[1.0, 0.0, 0.0, 0.0]]])))
    part = np.array([3.0, 1.0, 0.0, 0.0])
    expected = (part[0] - part.mean()) / np.sqrt(x.numpy().var() + 1e-5)
    assert float(weights[0, 0].numpy() @ part) == pytest.approx(expected, rel=1e-6)


def test_the_ratio_of_tanh_at_zero_is_one() -> None:
    weights, _ = pull_back(nn.Tanh(), torch.zeros(1, 2), LinearFunction(torch.ones(1, 1, 2)))
    assert weights.flatten().tolist() == [1.0, 1.0]


def test_a_module_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="what Softmax makes cannot be divided into parts"):
        pull_back(nn.Softmax(dim=-1), torch.zeros(1, 2), LinearFunction(torch.ones(1, 1, 2)))
