"""Sinusoidal position vectors: their frequencies, the similarities of rows, and the comparison with a binary counter.

A row p_t of the table holds two numbers for each frequency w_k = 10000^(-2k/d_model), k = 0 ... d_model/2 - 1:
p_t[2k] = sin(w_k t) and p_t[2k+1] = cos(w_k t) (Vaswani et al. 2017, 3.5). `d_model` is even throughout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from ..transformer import sinusoidal

BASE = 10_000.0


def position_table(n_positions: int, d_model: int) -> Float32[np.ndarray, "{n_positions} {d_model}"]:
    """Table of sinusoidal position vectors p_0 ... p_(n_positions-1). Raises ValueError for an odd d_model."""
    _check_even(d_model)
    return sinusoidal(n_positions, d_model).numpy()


def frequencies(d_model: int) -> Float[np.ndarray, " pair"]:
    """Frequencies w_k in radians per position, from 1 downwards. Raises ValueError for an odd d_model."""
    _check_even(d_model)
    return BASE ** (-np.arange(0, d_model, 2) / d_model)


def wavelengths(d_model: int) -> Float[np.ndarray, " pair"]:
    """Wavelengths 2 pi / w_k, in positions, from 2 pi to nearly 10000 * 2 pi."""
    return 2 * np.pi / frequencies(d_model)


def waves(
    dimensions: Sequence[int], d_model: int, t: Float[np.ndarray, " t"]
) -> Float[np.ndarray, "dimension t"]:
    """Values of the given dimensions of p_t at any real t: sines for even dimensions, cosines for odd dimensions."""
    dimension_column = np.asarray(dimensions, int)[:, None]
    angles = frequencies(d_model)[dimension_column // 2] * t
    return np.where(dimension_column % 2, np.cos(angles), np.sin(angles))


# Pairs of rows


def dot_products(rows: Float[np.ndarray, "position d_model"]) -> Float[np.ndarray, "position position"]:
    """Dot products p_s · p_t of all pairs of rows, summed in double precision."""
    rows = rows.astype(np.float64)
    return rows @ rows.T


def row_distances(rows: Float[np.ndarray, "position d_model"]) -> Float[np.ndarray, "position position"]:
    """Distances |p_s - p_t| of all pairs of rows, computed from the differences."""
    rows = rows.astype(np.float64)
    return np.stack([np.linalg.norm(rows - row, axis=1) for row in rows])


def nearest_positions(distances: Float[np.ndarray, "position position"]) -> tuple[float, int, int]:
    """Smallest distance between two positions, and these two positions; the first pair if several are equally near.

    Raises ValueError for a single position.
    """
    first, second = np.triu_indices(len(distances), 1)
    index = int(distances[first, second].argmin())
    return float(distances[first[index], second[index]]), int(first[index]), int(second[index])


def dot_product_by_offset(offsets: Int[np.ndarray, "*axes"], d_model: int) -> Float[np.ndarray, "*axes"]:
    """Dot product p_t · p_(t+phi), for each offset phi in `offsets`: sum_k cos(w_k phi), the same for every t.

    Since sin a sin b + cos a cos b = cos(a - b), t cancels, and phi and -phi give the same.
    """
    return np.cos(np.multiply.outer(offsets, frequencies(d_model))).sum(axis=-1)


def distance_by_offset(offsets: Int[np.ndarray, "*axes"], d_model: int) -> Float[np.ndarray, "*axes"]:
    """Distance |p_t - p_(t+phi)|, for each offset phi in `offsets`: sqrt(d_model - 2 sum_k cos(w_k phi)), the same for
    every t.

    This follows from |p_t|² = d_model / 2.
    """
    # 1 - cos a = 2 sin²(a / 2), which keeps the digits that the difference would lose near phi = 0.
    half_sines = np.sin(np.multiply.outer(offsets, frequencies(d_model)) / 2)
    return 2 * np.sqrt((half_sines**2).sum(axis=-1))


class OffsetSummary(NamedTuple):
    """The cells of a matrix [position s, position t], summarised for each offset t - s."""

    offsets: Int[np.ndarray, " offset"]  # -(n - 1) ... n - 1
    means: Float[np.ndarray, " offset"]
    spreads: Float[np.ndarray, " offset"]  # the largest minus the smallest

    @property
    def largest_spread(self) -> float:
        """The largest spread of any offset."""
        return float(self.spreads.max())


def summarise_by_offset(matrix: Float[np.ndarray, "position position"]) -> OffsetSummary:
    """For each diagonal of the matrix, the mean of its cells, and their spread: the largest minus the smallest."""
    n = len(matrix)
    offsets = np.arange(1 - n, n)
    diagonals = [np.diagonal(matrix, offset) for offset in offsets]
    means, spreads = np.transpose([(cells.mean(), np.ptp(cells)) for cells in diagonals])
    return OffsetSummary(offsets, means, spreads)


def largest_deviation(
    matrix: Float[np.ndarray, "position position"], at_offsets: Float[np.ndarray, " offset"]
) -> float:
    """Largest absolute difference between a cell and the value expected at its offset, column minus row.

    `at_offsets` holds the expected values for the offsets -(n - 1) to n - 1, where n is the number of positions.
    """
    positions = np.arange(len(matrix))
    expected_values = at_offsets[positions - positions[:, None] + len(matrix) - 1]
    return float(np.abs(matrix - expected_values).max())


def asymmetry(matrix: Float[np.ndarray, "position position"]) -> float:
    """Largest absolute difference between a matrix and its transpose."""
    return float(np.abs(matrix - matrix.T).max())


# Likeness to a binary counter


def binary_digits(positions: Int[np.ndarray, " position"], n_bits: int) -> Int[np.ndarray, "position bit"]:
    """Binary digits of the positions, the lowest digit first: bit j has the period 2^(j+1).

    Bit j of t is 1 exactly if sin(2 pi (t + 1/2) / 2^(j+1)) is negative.
    """
    return positions[:, None] >> np.arange(n_bits) & 1


def nearest_pairs(periods: Float[np.ndarray, " period"], d_model: int) -> list[int]:
    """Indices k of those wavelengths that are nearest, in ratio, to the given periods; ascending, without repetition."""
    log_ratios = np.log(periods[:, None] / wavelengths(d_model))
    return sorted({int(k) for k in np.abs(log_ratios).argmin(axis=1)})


def _check_even(d_model: int) -> None:
    if d_model < 2 or d_model % 2:
        raise ValueError(f"sines and cosines come in pairs: d_model must be even, got {d_model}")
