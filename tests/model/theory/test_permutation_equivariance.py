import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.theory.permutation_equivariance import (
    REORDERINGS,
    ReorderedAttention,
    attend_reordered,
    reordering_indices,
)
from tests.tolerance import encoder_rounding

TEXT = "not great film a b"  # 7 tokens, 2 of them special


def reordered(loaded, given_input, order, *, is_causal, layer=1, head=1) -> ReorderedAttention:
    return attend_reordered(
        loaded, given_input, layer=layer, head=head, order=tuple(order), is_causal=is_causal
    )


def test_difference_by_hand():
    made = ReorderedAttention(
        order=np.array([1, 0]),
        output=np.array([[1, 2], [3, 4]], np.float32),
        output_of_reordered=np.array([[3, 5], [1, 2]], np.float32),
    )
    permutation = np.array([[0, 1], [1, 0]])
    np.testing.assert_array_equal(made.difference, made.output_of_reordered - permutation @ made.output)
    assert made.difference.tolist() == [[0, 1], [0, 0]]
    assert (made.largest_difference, made.largest_output) == (1, 4)
    assert (made.row_of(0), made.row_of(1)) == (1, 0)
    assert not made.is_equivariant


@pytest.mark.parametrize(
    ("difference", "holds"), [(0.0, True), (0.9e-4, True), (-0.9e-4, True), (1.1e-4, False), (-1.0, False)]
)
def test_the_equation_holds_within_a_ten_thousandth_of_the_largest_output(difference, holds):
    output = np.array([[-10.0], [1.0]], np.float32)
    made = ReorderedAttention(
        order=np.array([0, 1]), output=output, output_of_reordered=output + np.float32(10 * difference)
    )
    assert made.is_equivariant == holds


@pytest.mark.parametrize("kind", REORDERINGS)
@pytest.mark.parametrize("n", [1, 2, 9])
def test_an_order_of_each_kind_names_each_position_once(kind, n):
    assert sorted(reordering_indices(kind, n, 3)) == list(range(n))


def test_orders_by_hand():
    assert reordering_indices("reversed", 4) == (3, 2, 1, 0)
    assert reordering_indices("shifted by one", 4) == (3, 0, 1, 2)
    assert reordering_indices("first two swapped", 4) == (1, 0, 2, 3)
    assert reordering_indices("shuffled", 9, 1) != reordering_indices("shuffled", 9, 2)


@given(order=st.permutations(range(7)), layer=st.integers(0, 1), head=st.integers(0, 1))
def test_without_a_mask_the_outputs_move_with_their_vectors(text_loaded, order, layer, head):
    result = reordered(text_loaded, TEXT, order, is_causal=False, layer=layer, head=head)
    assert np.abs(result.difference).max() < 1e-5
    assert np.abs(result.output).max() > 1e-2


def test_patches_are_a_set_as_well(digit_loaded, image):
    result = reordered(digit_loaded, image, [4, 2, 0, 1, 3], is_causal=False)
    assert np.abs(result.difference).max() < 1e-5


def test_the_output_is_what_the_encoder_had(text_loaded):
    result = reordered(text_loaded, TEXT, range(7), is_causal=False)
    np.testing.assert_allclose(
        result.output, capture(text_loaded, TEXT).z[1, 1], atol=encoder_rounding(text_loaded.config, 2)
    )


def test_a_causal_mask_breaks_it(text_loaded):
    result = reordered(text_loaded, TEXT, range(7)[::-1], is_causal=True)
    assert np.abs(result.difference).max() > 1e-2


def test_with_a_causal_mask_rows_that_see_the_same_vectors_stay(text_loaded):
    result = reordered(text_loaded, TEXT, [1, 0, 2, 3, 4, 5, 6], is_causal=True)
    apart = np.abs(result.difference).max(axis=1)
    assert (apart[:2] > 1e-3).all()
    assert (apart[2:] < 1e-5).all()


@pytest.mark.parametrize("order", [[0, 1], [0] * 7, range(1, 8)])
def test_an_order_names_each_position_once(text_loaded, order):
    with pytest.raises(ValueError, match="7 positions"):
        reordered(text_loaded, TEXT, order, is_causal=False)
