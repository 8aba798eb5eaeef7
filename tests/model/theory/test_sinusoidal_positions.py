import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from model.capture import capture
from model.experiments.embeddings import embedding_parts
from model.theory import sinusoidal_positions
from model.theory.sinusoidal_positions import (
    best_map_errors,
    frequencies,
    largest_sine,
    position_sums,
    position_table,
    query_key_weights,
    rotation,
    shift_errors,
    shift_matrix,
    sine_shift_errors,
    summarise_errors,
)
from tests.model import tiny
from tests.tolerance import rounding

WIDTHS = st.integers(1, 48).map(lambda pairs: 2 * pairs)
LENGTHS = st.integers(1, 80)
ROUNDING = 2e-5  # of a single-precision angle below 100, times the slope of a sine
SHIFTED_WIDTHS = st.integers(1, 32).map(lambda pairs: 2 * pairs)
OFFSETS = st.integers(0, 40)
N = 160
SHIFT_ROUNDING = 4e-5  # of single-precision angles below 200
SIZES = st.integers(1, 6)
VALUES = st.floats(-4, 4, width=32)


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


# For all sizes


@given(WIDTHS, LENGTHS)
def test_a_wave_goes_through_its_column_of_the_table(d_model, n):
    rows, t = sinusoidal_positions.position_table(n, d_model), np.arange(n, dtype=float)
    waves = sinusoidal_positions.waves(range(d_model), d_model, t)
    np.testing.assert_allclose(rows.T, waves, atol=ROUNDING)


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


@given(SHIFTED_WIDTHS, OFFSETS)
def test_the_largest_sine_is_what_a_map_of_sines_misses_at_position_zero(d_model, offset):
    at_zero = sine_shift_errors(position_table(N, d_model), offset)[0]
    assert largest_sine(offset, d_model) == pytest.approx(np.abs(at_zero).max(), abs=SHIFT_ROUNDING)


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


# For all sizes


@given(SHIFTED_WIDTHS, OFFSETS)
def test_one_matrix_shifts_every_row(d_model, offset):
    rows = position_table(N, d_model)
    shifted = rows[: N - offset] @ shift_matrix(offset, d_model).T
    np.testing.assert_allclose(shifted, rows[offset:], atol=SHIFT_ROUNDING)
    assert np.abs(shift_errors(rows, offset)).max() < SHIFT_ROUNDING


@given(SHIFTED_WIDTHS, OFFSETS)
def test_sines_alone_lack_what_the_cosines_brought(d_model, offset):
    errors = sine_shift_errors(position_table(N, d_model), offset)
    angles = np.outer(np.arange(N - offset), frequencies(d_model))
    missing = np.cos(angles) * np.sin(frequencies(d_model) * offset)
    np.testing.assert_allclose(errors, -missing, atol=SHIFT_ROUNDING)


@given(SHIFTED_WIDTHS, OFFSETS)
def test_no_linear_map_of_sines_alone_can_shift(d_model, offset):
    rows = position_table(N, d_model)
    errors = best_map_errors(rows[:, ::2], offset)
    np.testing.assert_allclose(errors[0], -np.sin(frequencies(d_model) * offset), atol=SHIFT_ROUNDING)
    assert (errors**2).sum() <= (
        sine_shift_errors(rows, offset) ** 2
    ).sum() + SHIFT_ROUNDING  # yet the best there is


@given(SHIFTED_WIDTHS, OFFSETS)
def test_the_same_fit_finds_the_shift_where_there_is_one(d_model, offset):
    assert np.abs(best_map_errors(position_table(N, d_model), offset)).max() < 2e-3


@st.composite
def products(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    """X, P, W1 and W2 whose shapes fit."""
    n, d_model, d_out = (draw(SIZES) for _ in range(3))
    shapes = ((n, d_model), (n, d_model), (d_model, d_out), (d_model, d_out))
    return tuple(draw(arrays(np.float64, shape, elements=VALUES)) for shape in shapes)


def test_the_sums_by_hand():
    x, p = np.array([[1.0, 2.0]]), np.array([[3.0, -4.0]])
    w1, w2 = np.array([[1.0], [10.0]]), np.array([[100.0], [1000.0]])
    result = position_sums(x, p, w1, w2)
    assert (result.content.tolist(), result.positions.tolist(), result.whole.tolist()) == (
        [[21]],
        [[-3700]],
        [[-3679]],
    )
    assert (result.largest, result.from_sum) == (3679, 0)
    assert result.from_adding == abs(-3679 - (4 - 20))
    assert position_sums(x, p, w1, w1).from_adding == 0


@given(products())
def test_concatenating_is_adding_two_products(given_):
    x, p, w1, w2 = given_
    result = position_sums(*given_)
    np.testing.assert_allclose(result.whole, x @ w1 + p @ w2, atol=1e-12)
    assert result.from_sum < 1e-12
    assert result.largest == np.abs(result.whole).max()
    assert result.from_adding == pytest.approx(np.abs(p @ (w2 - w1)).max(), abs=1e-12)


@pytest.mark.parametrize("head", [0, 1])
def test_the_weights_are_those_of_the_head(head):
    """Where no norm comes first, x W + b is the q and k that the encoder computed."""
    post = tiny.loaded(replace(tiny.TEXT, norm_placement="post", final_norm=False))
    record, total = capture(post, "not great"), embedding_parts(post, "not great").total
    attention, of_head = post.model.blocks[0].attention, slice(4 * head, 4 * head + 4)
    for weights, part, seen in zip(
        query_key_weights(post.model, 0, head),
        (attention.w_q, attention.w_k),
        (record.q, record.k),
        strict=True,
    ):
        bias = part.bias.detach().numpy()[of_head]
        np.testing.assert_allclose(total @ weights + bias, seen[0, head], atol=1e-5)
