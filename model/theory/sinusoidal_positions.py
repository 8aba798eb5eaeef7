"""Sinusoidal position vectors: frequencies, similarities, comparison with binary digits, shifts, and the sum with content.

A row p_t of the table holds two numbers for each frequency w_k = 10000^(-2k/d_model), k = 0 ... d_model/2 - 1:
p_t[2k] = sin(w_k t) and p_t[2k+1] = cos(w_k t) (Vaswani et al. 2017, 3.5). `d_model` is even throughout.

For each offset phi, one matrix maps every p_t to p_(t+phi): "for any fixed offset k, PE_(pos+k) can be represented as a linear
function of PE_pos" (3.5). For sines without cosines there is no such matrix. The parameter `offset` is phi.

Concatenating content X and position vectors P gives Concat[X, P] W = X W1 + P W2, where W consists of W1 above W2; adding them
is the case W1 = W2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from ..transformer import Transformer, sinusoidal

BASE = 10_000.0


def position_table(n_positions: int, d_model: int) -> Float32[np.ndarray, "{n_positions} {d_model}"]:
    """Table of sinusoidal position vectors p_0 ... p_(n_positions-1)."""
    return sinusoidal(n_positions, d_model).numpy()


def frequencies(d_model: int) -> Float[np.ndarray, " pair"]:
    """Frequencies w_k in radians per position, from 1 downwards."""
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
    matrix: Float[np.ndarray, "position position"], expected: Float[np.ndarray, " offset"]
) -> float:
    """Largest absolute difference between a cell and the value expected at its offset, column minus row.

    `expected` holds the expected values for the offsets -(n - 1) to n - 1, where n is the number of positions.
    """
    positions = np.arange(len(matrix))
    expected_values = expected[positions - positions[:, None] + len(matrix) - 1]
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
    """Indices k of the wavelengths whose ratio to one of the `periods` is nearest to 1; ascending, without repetition."""
    log_ratios = np.log(periods[:, None] / wavelengths(d_model))
    return sorted({int(k) for k in np.abs(log_ratios).argmin(axis=1)})


def rotation(k: int, offset: int, d_model: int) -> Float[np.ndarray, "2 2"]:
    """The matrix [[cos a, sin a], [-sin a, cos a]] with a = w_k phi, which maps (sin w_k t, cos w_k t) to the same pair at t + phi."""
    angle = frequencies(d_model)[k] * offset
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def shift_matrix(offset: int, d_model: int) -> Float[np.ndarray, "{d_model} {d_model}"]:
    """The matrix M with p_(t+phi) = M p_t: orthogonal and block-diagonal, with the rotations of all pairs as blocks."""
    matrix = np.zeros((d_model, d_model))
    for k in range(d_model // 2):
        pair = slice(2 * k, 2 * k + 2)
        matrix[pair, pair] = rotation(k, offset, d_model)
    return matrix


# Errors of a linear map: its result for p_t, minus p_(t+phi), for every t where both are in the table


def shift_errors(
    rows: Float[np.ndarray, "position d_model"], offset: int
) -> Float[np.ndarray, "shifted d_model"]:
    """Errors M p_t - p_(t+phi) of the `shift_matrix`, which are due to rounding, for all t with both rows in the table."""
    return _map_errors(rows, shift_matrix(offset, rows.shape[1]), offset)


def sine_shift_errors(
    rows: Float[np.ndarray, "position d_model"], offset: int
) -> Float[np.ndarray, "shifted pair"]:
    """Errors of the shift matrix for rows that hold the sines alone, where only its factors cos(w_k phi) are left.

    The error is the missing contribution of the cosines, -cos(w_k t) sin(w_k phi).
    """
    return _map_errors(rows[:, ::2], shift_matrix(offset, rows.shape[1])[::2, ::2], offset)


def best_map_errors(
    rows: Float[np.ndarray, "position width"], offset: int
) -> Float[np.ndarray, "shifted width"]:
    """Errors of the linear map that is fitted by least squares to map each row to the row `offset` positions later.

    If rows hold only sines, row 0 is zero, and every linear map maps it to zero, so even the best map is off by sin(w_k phi).
    """
    rows_before, rows_after = _rows_before_and_after(rows, offset)
    # Long waves hardly differ over the table. Differences below single precision are rounding, to which the map must
    # not be fitted.
    rcond = np.finfo(np.float32).eps * max(rows_before.shape)
    transposed_map, *_ = np.linalg.lstsq(rows_before, rows_after, rcond=rcond)
    return _map_errors(rows, transposed_map.T, offset)


class ErrorSummary(NamedTuple):
    """Largest and root mean square error of a linear map, over all entries and by position."""

    largest: float  # in any dimension of any row
    rms: float  # root mean square over all
    by_position: Float[np.ndarray, " shifted"]  # root mean square over the dimensions of each row


def summarise_errors(errors: Float[np.ndarray, "shifted width"]) -> ErrorSummary:
    """Largest and root mean square error, over all entries and by position."""
    squares = errors**2
    rms, by_position = np.sqrt(squares.mean()), np.sqrt(squares.mean(axis=1))
    return ErrorSummary(float(np.abs(errors).max()), float(rms), by_position)


def largest_sine(offset: int, d_model: int) -> float:
    """Largest sine in p_phi, max_k |sin w_k phi|; all sines in p_0 are 0."""
    return float(np.abs(np.sin(frequencies(d_model) * offset)).max())


def _map_errors(rows: np.ndarray, matrix: np.ndarray, offset: int) -> np.ndarray:
    rows_before, rows_after = _rows_before_and_after(rows, offset)
    return rows_before @ matrix.T - rows_after


def _rows_before_and_after(rows: np.ndarray, offset: int) -> tuple[np.ndarray, np.ndarray]:
    rows = rows.astype(np.float64)
    return rows[: len(rows) - offset], rows[offset:]


class PositionSums(NamedTuple):
    """X W1, P W2 and Concat[X, P] W, and the largest difference of the latter from X W1 + P W2 and from (X + P) W1."""

    content: Float[np.ndarray, "position d_out"]  # X W1
    positions: Float[np.ndarray, "position d_out"]  # P W2
    whole: Float[np.ndarray, "position d_out"]  # Concat[X, P] W, one product
    largest: float  # max |Concat[X, P] W|
    from_sum: float  # max |Concat[X, P] W - (X W1 + P W2)|: rounding alone
    from_adding: float  # max |Concat[X, P] W - (X + P) W1|: rounding alone where W1 = W2


def position_sums(
    x: Float[np.ndarray, "position d_model"],
    p: Float[np.ndarray, "position d_model"],
    w1: Float[np.ndarray, "d_model d_out"],
    w2: Float[np.ndarray, "d_model d_out"],
) -> PositionSums:
    """Compares Concat[X, P] W, computed as one product, with X W1 + P W2, and with (X + P) W1, which is equal if W1 = W2."""
    content, positions = x @ w1, p @ w2
    product = np.concatenate((x, p), axis=1) @ np.concatenate((w1, w2))
    largest_values = (
        np.abs(values).max() for values in (product, product - (content + positions), product - (x + p) @ w1)
    )
    return PositionSums(content, positions, product, *map(float, largest_values))


def query_key_weights(
    model: Transformer, layer: int, head: int
) -> tuple[Float[np.ndarray, "d_model d_k"], Float[np.ndarray, "d_model d_k"]]:
    """W_Q and W_K of one head: its query is x W_Q plus a bias, and its key x W_K plus a bias, for an attention input x."""
    attention = model.blocks[layer].attention
    columns = slice(head * model.config.d_k, (head + 1) * model.config.d_k)
    w_q, w_k = (
        projection.weight.detach().cpu().numpy()[columns].T for projection in (attention.w_q, attention.w_k)
    )
    return w_q, w_k
