from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.capture.intervention import repositioned
from model.measures.changes import largest_change
from model.theory.permutation_equivariance import (
    REORDERINGS,
    ReorderedAttention,
    attend_reordered,
    reordering_indices,
    restore_order,
    shuffled_order,
    shuffled_picture,
)
from tests.model import tiny
from tests.model.tiny import CLOSE, ENCODERS
from tests.tolerance import encoder_rounding

TEXT = "not great film a b"  # 7 tokens, 2 of them special
seeds = st.integers(0, 2**32)


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


@given(seeds, st.lists(st.sampled_from(["class", "separator", "padding", "word", "mask"]), max_size=12))
def test_a_shuffle_is_a_permutation_that_leaves_class_token_separators_and_padding(seed, roles):
    order = shuffled_order(roles, seed)
    assert sorted(order) == list(range(len(roles)))
    assert order == shuffled_order(roles, seed)
    assert all(order[index] == index for index, role in enumerate(roles) if role not in ("word", "mask"))


def test_some_seed_moves_something():
    orders = {
        shuffled_order(("class", "word", "continuation", "unknown", "separator"), seed) for seed in range(50)
    }
    assert len(orders) == 6


def test_shuffled_content_is_the_picture_with_its_patches_moved():
    loaded, image = ENCODERS["digit post"]
    order = (0, 3, 1, 2, 4)
    picture = shuffled_picture(loaded, image, order)
    # the patches of an 8×8 picture, row by row; the class token, position 0, is no part of it
    first, second, third, fourth = image[:4, :4], image[:4, 4:], image[4:, :4], image[4:, 4:]
    np.testing.assert_array_equal(picture, np.block([[third, first], [second, fourth]]))
    moved = capture(loaded, image, repositioned(order=order))
    assert moved.tokens == ("[CLS]", "r1c0", "r0c0", "r0c1", "r1c1")
    np.testing.assert_allclose(moved.pattern, capture(loaded, picture).pattern, **CLOSE)


def test_the_patches_of_a_coloured_picture_are_moved():
    coloured = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    picture = shuffled_picture(tiny.loaded(replace(tiny.DIGIT, n_channels=3)), coloured, (0, 2, 1, 3, 4))
    np.testing.assert_array_equal(picture[:4], np.concatenate((coloured[:4, 4:], coloured[:4, :4]), axis=1))
    np.testing.assert_array_equal(picture[4:], coloured[4:])


def test_a_picture_is_shown_at_the_size_that_the_encoder_takes():
    loaded, _ = ENCODERS["digit pre"]
    assert (
        shuffled_picture(loaded, np.full((28, 28), 200, np.uint8), (0, 4, 3, 2, 1)).tolist()
        == [[200] * 8] * 8
    )


def test_restored_by_hand():
    # what stood at 2, 0, 1 is read as 0, 1, 2: the first row read is the row of 2, its first cell the key 2
    read = np.array([[22.0, 20, 21], [2, 0, 1], [12, 10, 11]])
    assert restore_order(read, (2, 0, 1)).tolist() == [[0, 1, 2], [10, 11, 12], [20, 21, 22]]


@given(st.permutations(range(6)), seeds)
def test_restored_undoes_the_order(order, seed):
    weights = np.random.default_rng(seed).random((2, 3, 6, 6))
    read = weights[..., order, :][..., order]
    np.testing.assert_array_equal(restore_order(read, order), weights)
    assert largest_change(weights, restore_order(read, order)) == 0


def test_the_largest_deviation_by_hand():
    before = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert largest_change(before, restore_order(np.array([[0.75, 0.25], [0.875, 0.125]]), (1, 0))) == 0.375
