"""Sinusoidal positions: their frequencies, what two rows have in common, and the counter that they resemble.

A row p_t of the table holds a pair for each frequency w_k = 10000^(-2k/d_model), k = 0 ... d_model/2 - 1:
p_t[2k] = sin(w_k t) and p_t[2k+1] = cos(w_k t) (Vaswani et al. 2017, 3.5). `d_model` is even throughout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from ..transformer import sinusoidal

BASE = 10_000.0


def table(n_positions: int, d_model: int) -> Float32[np.ndarray, "{n_positions} {d_model}"]:
    """The rows p_0 ... p_(n_positions-1), as an encoder adds them. Raises ValueError for an odd d_model."""
    _check(d_model)
    return sinusoidal(n_positions, d_model).numpy()


def frequencies(d_model: int) -> Float[np.ndarray, " pair"]:
    """w_k in radians a position, from 1 downwards. Raises ValueError for an odd d_model."""
    _check(d_model)
    return BASE ** (-np.arange(0, d_model, 2) / d_model)


def wavelengths(d_model: int) -> Float[np.ndarray, " pair"]:
    """2 pi / w_k in positions: from 2 pi to nearly 10000 * 2 pi."""
    return 2 * np.pi / frequencies(d_model)


def waves(
    dimensions: Sequence[int], d_model: int, t: Float[np.ndarray, " t"]
) -> Float[np.ndarray, "dimension t"]:
    """What these dimensions of p_t would be at any real t: sines where they are even, else cosines."""
    dimension = np.asarray(dimensions, int)[:, None]
    angles = frequencies(d_model)[dimension // 2] * t
    return np.where(dimension % 2, np.cos(angles), np.sin(angles))


# Two rows


def dot_products(rows: Float[np.ndarray, "position d_model"]) -> Float[np.ndarray, "position position"]:
    """p_s · p_t for all pairs, summed in double precision."""
    rows = rows.astype(np.float64)
    return rows @ rows.T


def distances(rows: Float[np.ndarray, "position d_model"]) -> Float[np.ndarray, "position position"]:
    """|p_s - p_t| for all pairs, each measured by itself: not by way of the dot products."""
    rows = rows.astype(np.float64)
    return np.stack([np.linalg.norm(rows - row, axis=1) for row in rows])


def nearest(distances: Float[np.ndarray, "position position"]) -> tuple[float, int, int]:
    """The smallest distance between two positions, and these two; of several pairs, the first. ValueError for one position."""
    one, other = np.triu_indices(len(distances), 1)
    at = int(distances[one, other].argmin())
    return float(distances[one[at], other[at]]), int(one[at]), int(other[at])


def dot_product_at(offsets: Int[np.ndarray, "*axes"], d_model: int) -> Float[np.ndarray, "*axes"]:
    """p_t · p_(t+phi) = sum_k cos(w_k phi), for every t.

    sin a sin b + cos a cos b = cos(a - b) for each pair: t drops out, and phi and -phi give the same.
    """
    return np.cos(np.multiply.outer(offsets, frequencies(d_model))).sum(axis=-1)


def distance_at(offsets: Int[np.ndarray, "*axes"], d_model: int) -> Float[np.ndarray, "*axes"]:
    """|p_t - p_(t+phi)| = sqrt(d_model - 2 sum_k cos(w_k phi)), since |p_t|² = d_model / 2."""
    # 1 - cos a = 2 sin²(a / 2), which keeps the digits that the difference would lose near phi = 0.
    halves = np.sin(np.multiply.outer(offsets, frequencies(d_model)) / 2)
    return 2 * np.sqrt((halves**2).sum(axis=-1))


class ByOffset(NamedTuple):
    """The cells of a matrix [position s, position t], gathered by t - s."""

    offsets: Int[np.ndarray, " offset"]  # -(n - 1) ... n - 1
    means: Float[np.ndarray, " offset"]
    spreads: Float[np.ndarray, " offset"]  # the largest minus the smallest

    @property
    def largest_spread(self) -> float:
        return float(self.spreads.max())


def by_offset(matrix: Float[np.ndarray, "position position"]) -> ByOffset:
    n = len(matrix)
    offsets = np.arange(1 - n, n)
    diagonals = [np.diagonal(matrix, offset) for offset in offsets]
    means, spreads = np.transpose([(cells.mean(), np.ptp(cells)) for cells in diagonals])
    return ByOffset(offsets, means, spreads)


def largest_deviation(
    matrix: Float[np.ndarray, "position position"], at_offsets: Float[np.ndarray, " offset"]
) -> float:
    """The furthest that any cell is from what `at_offsets`, over -(n - 1) ... n - 1, says of its offset."""
    position = np.arange(len(matrix))
    expected = at_offsets[position - position[:, None] + len(matrix) - 1]
    return float(np.abs(matrix - expected).max())


def asymmetry(matrix: Float[np.ndarray, "position position"]) -> float:
    """The largest difference of any cell from its mirror image."""
    return float(np.abs(matrix - matrix.T).max())


# The counter


def bits(positions: Int[np.ndarray, " position"], n_bits: int) -> Int[np.ndarray, "position bit"]:
    """Binary digits, the lowest first: bit j has the period 2^(j+1).

    It is 1 exactly where sin(2 pi (t + 1/2) / 2^(j+1)) is negative: a bit is the sign of a sine.
    """
    return positions[:, None] >> np.arange(n_bits) & 1


def nearest_pairs(periods: Float[np.ndarray, " period"], d_model: int) -> list[int]:
    """For each period, k of the wavelength nearest to it in ratio; none twice, in ascending order."""
    ratios = np.log(periods[:, None] / wavelengths(d_model))
    return sorted({int(k) for k in np.abs(ratios).argmin(axis=1)})


def _check(d_model: int) -> None:
    if d_model < 2 or d_model % 2:
        raise ValueError(f"sines and cosines come in pairs: d_model must be even, got {d_model}")
