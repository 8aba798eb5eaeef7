"""Heads of queries that share keys: against one linear map with the shared rows repeated."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from model.parts.block import GroupedLinear, bias_by_head, linear_norm, weight_by_head


def test_shared_heads_are_those_of_a_map_with_repeated_rows():
    linear = GroupedLinear(d_model=6, n_heads=4, n_groups=2, d_head=3)
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    output = linear(x)
    assert output.shape == (2, 5, 12)
    torch.testing.assert_close(output[..., 0:3], output[..., 3:6])  # heads 0 and 1 share
    torch.testing.assert_close(output, functional.linear(x, weight_by_head(linear), bias_by_head(linear)))


def test_a_missing_bias_is_zeros():
    linear = GroupedLinear(d_model=6, n_heads=4, n_groups=2, d_head=3)
    linear.register_parameter("bias", None)
    assert bias_by_head(linear).tolist() == [0.0] * 12


@pytest.mark.parametrize(
    "norm", [nn.LayerNorm(6), nn.LayerNorm(6, bias=False), nn.RMSNorm(6, eps=1e-3), nn.Identity()]
)
def test_centre_divide_scale_and_shift_make_the_norm(norm):
    generator = torch.Generator().manual_seed(0)
    for parameter in norm.parameters():
        parameter.data = torch.randn(6, generator=generator)
    x = torch.randn(3, 6, generator=generator)
    parts = linear_norm(norm, 6)
    torch.testing.assert_close(parts.centre(x) / parts.divisor(x) * parts.gain + parts.shift, norm(x))
