import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.theory import sinusoidal_positions
from tests.tolerance import rounding

WIDTHS = st.integers(1, 48).map(lambda pairs: 2 * pairs)
LENGTHS = st.integers(1, 80)
ROUNDING = 2e-5  # of a single-precision angle below 100, times the slope of a sine


# By hand


def test_the_table_of_four_dimensions_by_hand():
    at_2 = [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)]
    np.testing.assert_allclose(sinusoidal_positions.position_table(3, 4)[2], at_2, rtol=rounding(16))


def test_frequencies_and_wavelengths_by_hand():
    assert sinusoidal_positions.frequencies(4) == pytest.approx([1, 0.01])
    assert sinusoidal_positions.frequencies(8) == pytest.approx([1, 0.1, 0.01, 0.001])
    assert sinusoidal_positions.wavelengths(4) == pytest.approx([2 * math.pi, 200 * math.pi])


def test_the_nearest_two_positions_by_hand():
    rows = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 5.5]])
    assert sinusoidal_positions.nearest_positions(sinusoidal_positions.row_distances(rows)) == (1.5, 1, 2)
    with pytest.raises(ValueError, match="empty"):
        sinusoidal_positions.nearest_positions(np.zeros((1, 1)))


def test_dot_products_and_distances_by_hand():
    rows = np.array([[0, 1], [1, 0], [0, -1]], np.float32)  # sin and cos of 0, 90 and 180 degrees
    assert sinusoidal_positions.dot_products(rows).tolist() == [[1, 0, -1], [0, 1, 0], [-1, 0, 1]]
    root = math.sqrt(2)
    np.testing.assert_allclose(
        sinusoidal_positions.row_distances(rows), [[0, root, 2], [root, 0, root], [2, root, 0]]
    )


def test_the_identities_by_hand():
    offsets = np.array([-1, 0, 1])
    beside = math.cos(1) + math.cos(0.01)
    assert sinusoidal_positions.dot_product_by_offset(offsets, 4) == pytest.approx([beside, 2, beside])
    apart = math.sqrt(4 - 2 * beside)
    assert sinusoidal_positions.distance_by_offset(offsets, 4) == pytest.approx([apart, 0, apart])


def test_cells_by_offset_by_hand():
    gathered = sinusoidal_positions.summarise_by_offset(np.array([[1.0, 5.0], [3.0, 2.0]]))
    assert gathered.offsets.tolist() == [-1, 0, 1]
    assert gathered.means.tolist() == [3, 1.5, 5]
    assert gathered.spreads.tolist() == [0, 1, 0]


def test_the_largest_deviation_by_hand():
    matrix = np.array([[1.0, 5.0], [3.0, 2.0]])
    assert sinusoidal_positions.largest_deviation(matrix, np.array([3.0, 1.0, 5.0])) == 1
    assert (
        sinusoidal_positions.largest_deviation(matrix, np.array([5.0, 1.0, 3.0])) == 2
    )  # the offset is t - s


def test_the_asymmetry_and_the_largest_spread_by_hand():
    matrix = np.array([[1.0, 5.0, 0.0], [3.0, 2.0, 9.0], [0.5, 8.0, 1.0]])
    assert sinusoidal_positions.asymmetry(matrix) == 2
    assert (
        sinusoidal_positions.summarise_by_offset(matrix).largest_spread == 5
    )  # 3 and 8, one below the diagonal


def test_bits_by_hand():
    assert sinusoidal_positions.binary_digits(np.array([0, 1, 6, 8]), 4).tolist() == [
        [0, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 0, 1],
    ]


def test_nearest_pairs_by_hand():
    # of 6.28, 62.8, 628 and 6283 positions
    assert sinusoidal_positions.nearest_pairs(np.array([8.0, 16.0, 32.0, 64.0, 128.0]), 8) == [0, 1]


@pytest.mark.parametrize("d_model", [-2, 0, 3])
@pytest.mark.parametrize(
    "of", [sinusoidal_positions.frequencies, lambda d_model: sinusoidal_positions.position_table(2, d_model)]
)
def test_an_odd_width_is_refused(of, d_model):
    with pytest.raises(ValueError, match=f"must be even, got {d_model}"):
        of(d_model)


# For all sizes


@given(WIDTHS, LENGTHS)
def test_a_wave_goes_through_its_column_of_the_table(d_model, n):
    rows, t = sinusoidal_positions.position_table(n, d_model), np.arange(n, dtype=float)
    waves = sinusoidal_positions.waves(range(d_model), d_model, t)
    np.testing.assert_allclose(rows.T, waves, atol=ROUNDING)


@given(WIDTHS, LENGTHS)
def test_every_row_has_the_same_length(d_model, n):
    norms = np.linalg.norm(sinusoidal_positions.position_table(n, d_model), axis=1)
    np.testing.assert_allclose(norms, math.sqrt(d_model / 2), rtol=1e-5)


@given(WIDTHS, LENGTHS)
def test_the_dot_product_is_the_sum_of_cosines_of_the_offset(d_model, n):
    measured = sinusoidal_positions.dot_products(sinusoidal_positions.position_table(n, d_model))
    gathered = sinusoidal_positions.summarise_by_offset(measured)
    identity = sinusoidal_positions.dot_product_by_offset(gathered.offsets, d_model)
    assert sinusoidal_positions.largest_deviation(measured, identity) < ROUNDING * d_model
    np.testing.assert_allclose(gathered.means, identity, atol=ROUNDING * d_model)
    assert gathered.spreads.max() < 2 * ROUNDING * d_model
    np.testing.assert_allclose(measured, measured.T)
    assert (identity == identity[::-1]).all()


@given(WIDTHS, LENGTHS)
def test_the_distance_is_of_the_offset_alone(d_model, n):
    measured = sinusoidal_positions.row_distances(sinusoidal_positions.position_table(n, d_model))
    offsets = sinusoidal_positions.summarise_by_offset(measured).offsets
    identity = sinusoidal_positions.distance_by_offset(offsets, d_model)
    assert sinusoidal_positions.largest_deviation(measured, identity) < ROUNDING * math.sqrt(d_model)
    as_printed = np.sqrt(
        np.maximum(d_model - 2 * sinusoidal_positions.dot_product_by_offset(offsets, d_model), 0)
    )
    np.testing.assert_allclose(identity, as_printed, atol=1e-6)


@given(st.integers(0, 5000), st.integers(1, 12))
def test_a_bit_is_the_sign_of_a_sine(t, n_bits):
    periods = 2.0 ** (np.arange(n_bits) + 1)
    negative = np.sin(2 * np.pi * (t + 0.5) / periods) < 0
    assert (
        sinusoidal_positions.binary_digits(np.array([t]), n_bits)[0].tolist() == negative.astype(int).tolist()
    )


@given(WIDTHS, st.lists(st.floats(2, 1e5), min_size=1, max_size=9))
def test_nearest_pairs_exist_and_none_comes_twice(d_model, periods):
    result = sinusoidal_positions.nearest_pairs(np.array(periods), d_model)
    assert result == sorted(set(result))
    assert set(result) <= set(range(d_model // 2))
