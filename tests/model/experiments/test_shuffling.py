from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.capture.intervention import repositioned
from model.experiments.shuffling import restore_order, shuffled_order, shuffled_picture
from model.measures.changes import largest_change
from tests.model import tiny
from tests.model.tiny import CLOSE, ENCODERS

seeds = st.integers(0, 2**32)


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
