"""Rotation on a grid of patches against numbers worked by hand and a loop."""

import math

import numpy as np
import pytest
import torch

from model.config import ModelConfig
from model.family_options import Family, Parts, Rotary
from model.parts.grid_rotary import GridRotated

ROTARY = Rotary(bases=(100.0,), on_grid=True)


def of_grid(side: int, n_registers: int, d_k: int) -> GridRotated:
    config = ModelConfig(
        d_model=2 * d_k,
        n_layers=1,
        n_heads=2,
        d_k=d_k,
        d_v=d_k,
        d_ff=8,
        n_positions=side**2 + 1 + n_registers,
        image_size=4 * side,
        patch_size=4,
        positions="none",
        family=Family(name="it", n_registers=n_registers, parts=Parts(rotary=ROTARY)),
    )
    return GridRotated(ROTARY, 0, config)


def test_a_grid_of_two_by_two_by_hand() -> None:
    rotated = of_grid(side=2, n_registers=1, d_k=4)
    # centres of patches at -1/2 and 1/2; one pair for the row and one for the column, each of period 1
    half = math.pi
    expected = [[0, 0], [0, 0], [-half, -half], [-half, half], [half, -half], [half, half]]
    np.testing.assert_allclose(rotated.angles(6), expected, rtol=1e-6)
    # to the next patch the coordinate grows by 1, which is a whole turn
    np.testing.assert_allclose(rotated.frequencies(), [2 * math.pi, 2 * math.pi], rtol=1e-6)
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).expand(1, 2, 6, 4)
    np.testing.assert_allclose(rotated(x)[0, 0, :2], x[0, 0, :2])
    # by half a turn either way, every pair changes its sign
    np.testing.assert_allclose(rotated(x)[0, 0, 2:], -x[0, 0, 2:], atol=1e-5)


def test_periods_by_hand() -> None:
    rotated = of_grid(side=3, n_registers=0, d_k=8)
    # periods 1 and 100^(1/2) = 10; from patch to patch the coordinate grows by 2/3
    step = [2 * math.pi * 2 / 3, 2 * math.pi * 2 / 30]
    np.testing.assert_allclose(rotated.frequencies(), [*step, *step], rtol=1e-6)
    angles = rotated.angles(10)
    assert not angles[0].any()  # class token
    assert not angles[5].any()  # the patch in the middle
    np.testing.assert_allclose(angles[6], [0, 0, *step], rtol=1e-6)
    np.testing.assert_allclose(angles[8], [*step, 0, 0], rtol=1e-6)


@pytest.mark.parametrize(("side", "n_registers", "d_k"), [(2, 0, 4), (3, 4, 12), (5, 1, 8)])
def test_every_pair_of_every_position_is_turned(side: int, n_registers: int, d_k: int) -> None:
    n = side**2 + 1 + n_registers
    x = torch.randn(1, 2, n, d_k, generator=torch.Generator().manual_seed(0))
    result = of_grid(side, n_registers, d_k)(x).numpy()
    expected = x.numpy().copy()
    for row in range(side):
        for column in range(side):
            position = 1 + n_registers + row * side + column
            for pair in range(d_k // 2):
                coordinate = (row if pair < d_k // 4 else column) * 2 / side + 1 / side - 1
                period = 100 ** (pair % (d_k // 4) / (d_k // 4))
                turn = np.exp(2j * np.pi * coordinate / period)
                for head in range(2):
                    a, b = x[0, head, position, pair], x[0, head, position, pair + d_k // 2]
                    turned = (float(a) + 1j * float(b)) * turn
                    expected[0, head, position, [pair, pair + d_k // 2]] = turned.real, turned.imag
    np.testing.assert_allclose(result, expected, atol=1e-5)


def test_a_score_of_patches_depends_on_rows_and_columns_between_them() -> None:
    generator = torch.Generator().manual_seed(1)
    q, k = (torch.randn(8, generator=generator).expand(1, 2, 17, 8) for _ in range(2))
    rotated = of_grid(side=4, n_registers=0, d_k=8)
    scores = (rotated(q) @ rotated(k).mT)[0, 0, 1:, 1:].unflatten(1, (4, 4)).unflatten(0, (4, 4))
    for query_row, query_column in ((0, 0), (1, 1), (2, 0)):
        score = scores[query_row, query_column, query_row + 1, query_column + 2]
        torch.testing.assert_close(score, scores[0, 0, 1, 2], atol=1e-5, rtol=1e-5)
