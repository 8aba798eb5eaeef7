"""Shifting sinusoidal positions: one matrix for an offset takes every p_t to p_(t+phi). Sines alone have none.

"for any fixed offset k, PE_(pos+k) can be represented as a linear function of PE_pos" (Vaswani et al. 2017,
3.5); rows and frequencies as in `model.theory.sinusoidal_positions`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .sinusoidal_positions import frequencies


def rotation(k: int, offset: int, d_model: int) -> Float[np.ndarray, "2 2"]:
    """M(k, phi) = [[cos a, sin a], [-sin a, cos a]], a = w_k phi: turns (sin w_k t, cos w_k t) to t + phi."""
    angle = frequencies(d_model)[k] * offset
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def shift_matrix(offset: int, d_model: int) -> Float[np.ndarray, "{d_model} {d_model}"]:
    """The rotations of all pairs along the diagonal; p_(t+phi) = M p_t. M is orthogonal, so M(-phi) = Mᵀ."""
    matrix = np.zeros((d_model, d_model))
    for k in range(d_model // 2):
        pair = slice(2 * k, 2 * k + 2)
        matrix[pair, pair] = rotation(k, offset, d_model)
    return matrix


# What a map makes of p_t, minus p_(t+phi): for every t of which both are in the table


def shift_errors(
    rows: Float[np.ndarray, "position d_model"], offset: int
) -> Float[np.ndarray, "shifted d_model"]:
    """Of M: only the rounding of the table is left. Raises ValueError for an offset that the table is too short for."""
    return _errors(rows, shift_matrix(offset, rows.shape[1]), offset)


def sine_shift_errors(
    rows: Float[np.ndarray, "position d_model"], offset: int
) -> Float[np.ndarray, "shifted pair"]:
    """Of the same construction where a row holds the sines alone: what is left of M is cos(w_k phi).

    The error is the part that came from the cosine, cos(w_k t) sin(w_k phi), with a minus.
    """
    return _errors(rows[:, ::2], shift_matrix(offset, rows.shape[1])[::2, ::2], offset)


def best_map_errors(
    rows: Float[np.ndarray, "position width"], offset: int
) -> Float[np.ndarray, "shifted width"]:
    """Of the linear map that takes these rows to their shifted selves with the least sum of squares.

    Of sines alone, row 0 is all zeros, and so is what any linear map makes of it: there even the best one
    misses by sin(w_k phi).
    """
    before, after = _before_after(rows, offset)
    # Long waves hardly differ over the table. What tells them apart below single precision is the rounding
    # of the table, to which the map must not be fitted.
    smallest = np.finfo(np.float32).eps * max(before.shape)
    transposed, *_ = np.linalg.lstsq(before, after, rcond=smallest)
    return _errors(rows, transposed.T, offset)


class Miss(NamedTuple):
    """How far a map is from shifting."""

    largest: float  # in any dimension of any row
    rms: float  # root mean square over all
    by_position: Float[np.ndarray, " shifted"]  # root mean square over the dimensions of each row


def miss(errors: Float[np.ndarray, "shifted width"]) -> Miss:
    squares = errors**2
    rms, by_position = np.sqrt(squares.mean()), np.sqrt(squares.mean(axis=1))
    return Miss(float(np.abs(errors).max()), float(rms), by_position)


def largest_sine(offset: int, d_model: int) -> float:
    """max_k |sin w_k phi|: the largest number of p_phi among its sines, which p_0 has none of."""
    return float(np.abs(np.sin(frequencies(d_model) * offset)).max())


def _errors(rows: np.ndarray, matrix: np.ndarray, offset: int) -> np.ndarray:
    before, after = _before_after(rows, offset)
    return before @ matrix.T - after


def _before_after(rows: np.ndarray, offset: int) -> tuple[np.ndarray, np.ndarray]:
    if not 0 <= offset < len(rows):
        raise ValueError(f"a table of {len(rows)} rows has none that is {offset} after another")
    rows = rows.astype(np.float64)
    return rows[: len(rows) - offset], rows[offset:]
