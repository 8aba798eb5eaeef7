"""Shifts of sinusoidal position vectors p_t: for each offset phi, one matrix maps every p_t to p_(t+phi).

"for any fixed offset k, PE_(pos+k) can be represented as a linear function of PE_pos" (Vaswani et al. 2017, 3.5). For sines
without cosines there is no such matrix. Rows and frequencies are those of `model.theory.sinusoidal_positions`; the
parameter `offset` is phi.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .sinusoidal_positions import frequencies


def rotation(k: int, offset: int, d_model: int) -> Float[np.ndarray, "2 2"]:
    """Rotation [[cos a, sin a], [-sin a, cos a]] by a = w_k phi; it maps (sin w_k t, cos w_k t) at t to the same pair at t
    + phi.
    """
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
    """Errors M p_t - p_(t+phi) of the `shift_matrix`, which are due to rounding, for all t with both rows in the table.

    Raises ValueError for an offset beyond the table.
    """
    return _map_errors(rows, shift_matrix(offset, rows.shape[1]), offset)


def sine_shift_errors(
    rows: Float[np.ndarray, "position d_model"], offset: int
) -> Float[np.ndarray, "shifted pair"]:
    """Errors of the shift matrix for rows of sines alone, for which M consists only of the factors cos(w_k phi).

    The error is the missing contribution of the cosine, -cos(w_k t) sin(w_k phi).
    """
    return _map_errors(rows[:, ::2], shift_matrix(offset, rows.shape[1])[::2, ::2], offset)


def best_map_errors(
    rows: Float[np.ndarray, "position width"], offset: int
) -> Float[np.ndarray, "shifted width"]:
    """Errors of the linear map that is fitted by least squares to map each row to the row `offset` positions later.

    If there are only sines, row 0 is zero, and every linear map maps it to zero, so even the best map is wrong by sin(w_k
    phi).
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
    if not 0 <= offset < len(rows):
        raise ValueError(f"a table of {len(rows)} rows has none that is {offset} after another")
    rows = rows.astype(np.float64)
    return rows[: len(rows) - offset], rows[offset:]
