"""Heads of queries that share keys: against one linear map with the shared rows repeated."""

import torch
from torch.nn import functional

from model.parts.block import GroupedLinear, bias_by_head, weight_by_head


def test_shared_heads_are_those_of_a_map_with_repeated_rows() -> None:
    linear = GroupedLinear(d_model=6, n_heads=4, n_groups=2, d_head=3)
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    output = linear(x)
    assert output.shape == (2, 5, 12)
    torch.testing.assert_close(output[..., 0:3], output[..., 3:6])  # heads 0 and 1 share
    torch.testing.assert_close(output, functional.linear(x, weight_by_head(linear), bias_by_head(linear)))


def test_a_missing_bias_is_zeros() -> None:
    linear = GroupedLinear(d_model=6, n_heads=4, n_groups=2, d_head=3)
    linear.register_parameter("bias", None)
    assert bias_by_head(linear).tolist() == [0.0] * 12
