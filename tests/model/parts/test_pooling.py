import numpy as np
import pytest
import torch

from model.parts.pooling import pool_tokens

STATES = torch.tensor([[[1.0, -4.0], [3.0, -2.0], [8.0, 5.0]], [[2.0, 0.0], [4.0, 1.0], [6.0, 2.0]]])
REAL = torch.tensor([[True, True, False], [True, True, True]])


@pytest.mark.parametrize(
    ("pooling", "pooled"),
    [
        ("class", [[1, -4], [2, 0]]),
        ("max", [[3, -2], [6, 2]]),
        ("mean", [[2, -3], [4, 1]]),
        ("sum by root", [[4 / 2**0.5, -6 / 2**0.5], [12 / 3**0.5, 3 / 3**0.5]]),
        ("weighted mean", [[7 / 3, -8 / 3], [28 / 6, 8 / 6]]),
        ("last", [[3, -2], [6, 2]]),
    ],
)
def test_padding_is_not_pooled(pooling, pooled):
    np.testing.assert_allclose(pool_tokens([pooling], STATES, REAL), pooled, rtol=1e-6)
    both = pool_tokens([pooling, "class"], STATES, REAL)
    np.testing.assert_allclose(both, np.concatenate([pooled, [[1, -4], [2, 0]]], axis=1), rtol=1e-6)
    unpadded = pool_tokens([pooling], STATES[1:], None)
    np.testing.assert_allclose(unpadded, pooled[1:], rtol=1e-6)


def test_padding_alone_is_pooled_to_zeros():
    pooled = pool_tokens(["max", "mean", "last"], STATES, torch.zeros_like(REAL))
    np.testing.assert_array_equal(pooled, np.zeros((2, 6)))
