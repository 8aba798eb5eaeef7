"""Rotary positions against numbers worked by hand and numpy's complex numbers."""

import math

import numpy as np
import torch

from model.family_options import Rotary
from model.parts.rotary import Rotated, angles, factors, frequencies, rotate


def test_two_numbers_at_two_positions_by_hand() -> None:
    # one pair with frequency 1: (1, 0) at position 0 stays, at position 1 it is turned by 1 radian
    x = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]])
    rotated = rotate(x, factors(angles(10_000.0, 2, 2)))[0, 0]
    np.testing.assert_allclose(rotated, [[1.0, 0.0], [math.cos(1), math.sin(1)]], rtol=1e-6)


def test_frequencies_by_hand() -> None:
    np.testing.assert_allclose(frequencies(100.0, 4), [1.0, 0.1], rtol=1e-6)


def test_rotation_is_a_product_of_complex_numbers() -> None:
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


def test_a_score_depends_on_the_distance_alone() -> None:
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(1, 1, 1, 6, generator=generator), torch.randn(1, 1, 1, 6, generator=generator)
    by_position = [factors(angle[None]) for angle in angles(10_000.0, 6, 9)]
    scores = [float((rotate(q, by_position[i]) * rotate(k, by_position[i + 3])).sum()) for i in range(5)]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-5)


def test_only_a_share_of_the_width_is_rotated() -> None:
    x = torch.randn(1, 2, 4, 8, generator=torch.Generator().manual_seed(2))
    rotated = Rotated(Rotary(bases=(100.0, 10.0), share=0.5), 1, 8)(x)
    torch.testing.assert_close(rotated[..., 4:], x[..., 4:])
    torch.testing.assert_close(rotated[..., :4], rotate(x[..., :4], factors(angles(10.0, 4, 4))))
