"""What modules make, as functions that are linear in what they read."""

import numpy as np
import pytest
import torch
from torch import nn

from model.activations import OUTPUT_ACTIVATIONS
from model.decompositions.state_parts import Linearised
from model.parts.pooling import FirstNumbers, UnitLength

MODULES = {
    "linear": nn.Linear(6, 4),
    "without bias": nn.Linear(6, 4, bias=False),
    "LayerNorm": nn.LayerNorm(6),
    "LayerNorm without a bias": nn.LayerNorm(6, bias=False),
    "RMSNorm": nn.RMSNorm(6, eps=1e-5),
    "nothing": nn.Identity(),
    **{name: make() for name, make in OUTPUT_ACTIVATIONS.items()},
    "unit length": UnitLength(),
    "first numbers": FirstNumbers(3),
    "several": nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.LayerNorm(5), UnitLength()),
}


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_what_a_module_makes_is_the_sum_of_gradients_times_what_it_reads(module):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter))
    x, one = torch.randn(3, 6), torch.ones(1, requires_grad=True)
    x[0, 0] = 0.0
    with Linearised(one):
        y = module(x.requires_grad_())
    np.testing.assert_allclose(y.detach(), module(x).detach(), rtol=1e-5, atol=1e-5)
    weights = torch.randn_like(y)
    gradients = torch.autograd.grad(y + 0 * one, (x, one), weights)
    total = sum((g * read).sum() for g, read in zip(gradients, (x, one), strict=True))
    assert total.item() == pytest.approx((weights * y).sum().item(), rel=1e-5, abs=1e-5)


def test_a_norms_divisor_is_held():
    norm = nn.LayerNorm(4, bias=False)
    x = torch.tensor([[1.0, 2.0, 4.0, 9.0]], requires_grad=True)
    with Linearised(torch.ones(1)):
        (weights,) = torch.autograd.grad(norm(x)[0, 0], x)
    part = np.array([3.0, 1.0, 0.0, 0.0])
    expected = (part[0] - part.mean()) / np.sqrt(x.detach().numpy().var() + 1e-5)
    assert float(weights[0].numpy() @ part) == pytest.approx(expected, rel=1e-6)


def test_the_ratio_of_tanh_at_zero_is_one():
    x = torch.zeros(1, 2, requires_grad=True)
    with Linearised(torch.ones(1)):
        (ratios,) = torch.autograd.grad(nn.Tanh()(x).sum(), x)
    assert ratios.flatten().tolist() == [1.0, 1.0]
