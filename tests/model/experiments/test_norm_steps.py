import math

import numpy as np
import pytest
import torch
from torch import nn

from model.experiments.norm_steps import apply_norm, norm_steps

X = np.array([3.0, 1.0, -1.0, 5.0])


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
