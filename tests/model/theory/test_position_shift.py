import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.theory.position_shift import (
    best_map_errors,
    largest_sine,
    rotation,
    shift_errors,
    shift_matrix,
    sine_shift_errors,
    summarise_errors,
)
from model.theory.sinusoidal_positions import frequencies, position_table
from tests.tolerance import rounding

WIDTHS = st.integers(1, 32).map(lambda pairs: 2 * pairs)
OFFSETS = st.integers(0, 40)
N = 160
ROUNDING = 4e-5  # of single-precision angles below 200


# By hand


def test_a_quarter_turn_by_hand():
    # 10000^(-2/4) = 0.01: after 50 pi positions, 157 to the nearest whole one, the second pair has made a
    # quarter of its round, so that its sine becomes its cosine.
    quarter = rotation(1, 157, 4)
    np.testing.assert_allclose(quarter, [[0, 1], [-1, 0]], atol=1e-3)
    assert quarter[0, 0] == pytest.approx(math.cos(1.57))


def test_a_miss_by_hand():
    result = summarise_errors(np.array([[3.0, -4.0], [0.0, 1.0]]))
    assert result.largest == 4
    assert result.rms == pytest.approx(math.sqrt((9 + 16 + 0 + 1) / 4))
    assert result.by_position == pytest.approx([math.sqrt(25 / 2), math.sqrt(1 / 2)])


@given(WIDTHS, OFFSETS)
def test_the_largest_sine_is_what_a_map_of_sines_misses_at_position_zero(d_model, offset):
    at_zero = sine_shift_errors(position_table(N, d_model), offset)[0]
    assert largest_sine(offset, d_model) == pytest.approx(np.abs(at_zero).max(), abs=ROUNDING)


def test_the_matrix_of_four_dimensions_by_hand():
    a, b = 2, 0.02
    by_hand = [
        [math.cos(a), math.sin(a), 0, 0],
        [-math.sin(a), math.cos(a), 0, 0],
        [0, 0, math.cos(b), math.sin(b)],
        [0, 0, -math.sin(b), math.cos(b)],
    ]
    np.testing.assert_allclose(shift_matrix(2, 4), by_hand)


def test_errors_of_sines_alone_by_hand():
    # sin(1) at t = 0 from nothing; then sin(2) from cos(1) sin(1).
    errors = sine_shift_errors(position_table(3, 2), 1)
    at_1 = math.cos(1) * math.sin(1) - math.sin(2)
    np.testing.assert_allclose(errors, [[-math.sin(1)], [at_1]], rtol=rounding(16))


@pytest.mark.parametrize("offset", [-1, 3, 4])
def test_an_offset_beyond_the_table_is_refused(offset):
    with pytest.raises(ValueError, match=f"3 rows has none that is {offset} after"):
        shift_errors(position_table(3, 2), offset)


# For all sizes


@given(WIDTHS, OFFSETS)
def test_one_matrix_shifts_every_row(d_model, offset):
    rows = position_table(N, d_model)
    shifted = rows[: N - offset] @ shift_matrix(offset, d_model).T
    np.testing.assert_allclose(shifted, rows[offset:], atol=ROUNDING)
    assert np.abs(shift_errors(rows, offset)).max() < ROUNDING


@given(WIDTHS, OFFSETS)
def test_shifting_back_is_the_transpose(d_model, offset):
    matrix = shift_matrix(offset, d_model)
    np.testing.assert_allclose(shift_matrix(-offset, d_model), matrix.T)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(d_model), atol=1e-12)


@given(WIDTHS, OFFSETS, OFFSETS)
def test_two_shifts_are_one(d_model, a, b):
    both = shift_matrix(a, d_model) @ shift_matrix(b, d_model)
    np.testing.assert_allclose(both, shift_matrix(a + b, d_model), atol=1e-12)


@given(WIDTHS, OFFSETS)
def test_sines_alone_lack_what_the_cosines_brought(d_model, offset):
    errors = sine_shift_errors(position_table(N, d_model), offset)
    angles = np.outer(np.arange(N - offset), frequencies(d_model))
    missing = np.cos(angles) * np.sin(frequencies(d_model) * offset)
    np.testing.assert_allclose(errors, -missing, atol=ROUNDING)


@given(WIDTHS, OFFSETS)
def test_no_linear_map_of_sines_alone_can_shift(d_model, offset):
    rows = position_table(N, d_model)
    errors = best_map_errors(rows[:, ::2], offset)
    np.testing.assert_allclose(errors[0], -np.sin(frequencies(d_model) * offset), atol=ROUNDING)
    assert (errors**2).sum() <= (
        sine_shift_errors(rows, offset) ** 2
    ).sum() + ROUNDING  # yet the best there is


@given(WIDTHS, OFFSETS)
def test_the_same_fit_finds_the_shift_where_there_is_one(d_model, offset):
    assert np.abs(best_map_errors(position_table(N, d_model), offset)).max() < 2e-3
