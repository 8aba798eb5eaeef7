"""Rotary positions against numbers worked by hand and numpy's complex numbers."""

import math

import numpy as np
import pytest
import torch

from model.config import ModelConfig
from model.family_options import Family, Parts, Rotary
from model.parts.rotary import GridRotated, Rotated, angles, factors, frequencies, rotate


def test_two_numbers_at_two_positions_by_hand():
    # one pair with frequency 1: (1, 0) at position 0 stays, at position 1 it is turned by 1 radian
    x = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])
    rotated = rotate(x, factors(angles(10_000.0, 2, 2)))[0, 0]
    np.testing.assert_allclose(rotated, [[1.0, 0.0], [math.cos(1), math.sin(1)]], rtol=1e-6)


def test_frequencies_by_hand():
    np.testing.assert_allclose(frequencies(100.0, 4), [1.0, 0.1], rtol=1e-6)


def test_rotation_is_a_product_of_complex_numbers():
    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
    turn = np.exp(1j * np.outer(np.arange(5), 10_000.0 ** (-np.arange(4) / 4)))
    halves, neighbours = (
        x.numpy()[..., :4] + 1j * x.numpy()[..., 4:],
        x.numpy()[..., ::2] + 1j * x.numpy()[..., 1::2],
    )
    by_halves = rotate(x, factors(angles(10_000.0, 8, 5))).numpy()
    np.testing.assert_allclose(by_halves[..., :4] + 1j * by_halves[..., 4:], halves * turn, atol=1e-5)
    interleaved = rotate(x, factors(angles(10_000.0, 8, 5), interleaved=True), interleaved=True).numpy()
    np.testing.assert_allclose(
        interleaved[..., ::2] + 1j * interleaved[..., 1::2], neighbours * turn, atol=1e-5
    )


def test_a_score_depends_on_the_distance_alone():
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(1, 1, 1, 6, generator=generator), torch.randn(1, 1, 1, 6, generator=generator)
    by_position = [factors(angle[None]) for angle in angles(10_000.0, 6, 9)]
    scores = [float((rotate(q, by_position[i]) * rotate(k, by_position[i + 3])).sum()) for i in range(5)]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-5)


def test_only_a_share_of_the_width_is_rotated():
    x = torch.randn(1, 2, 4, 8, generator=torch.Generator().manual_seed(2))
    rotated = Rotated(Rotary(bases=(100.0, 10.0), share=0.5), 1, 8)(x)
    torch.testing.assert_close(rotated[..., 4:], x[..., 4:])
    torch.testing.assert_close(rotated[..., :4], rotate(x[..., :4], factors(angles(10.0, 4, 4))))


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


def test_a_grid_of_two_by_two_by_hand():
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


def test_periods_by_hand():
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
def test_every_pair_of_every_position_is_turned(side, n_registers, d_k):
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


def test_a_score_of_patches_depends_on_rows_and_columns_between_them():
    generator = torch.Generator().manual_seed(1)
    q, k = (torch.randn(8, generator=generator).expand(1, 2, 17, 8) for _ in range(2))
    rotated = of_grid(side=4, n_registers=0, d_k=8)
    scores = (rotated(q) @ rotated(k).mT)[0, 0, 1:, 1:].unflatten(1, (4, 4)).unflatten(0, (4, 4))
    for query_row, query_column in ((0, 0), (1, 1), (2, 0)):
        score = scores[query_row, query_column, query_row + 1, query_column + 2]
        torch.testing.assert_close(score, scores[0, 0, 1, 2], atol=1e-5, rtol=1e-5)
