from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.capture import capture
from model.experiments.positions import (
    largest_deviation,
    over_orders,
    over_shifts,
    repositioned,
    restored,
    shifted_positions,
    shuffled,
    shuffled_picture,
)
from model.hooks import watch
from model.transformer import sinusoidal
from tests.model import tiny

TEXT = "great film not a x y"
IMAGE = np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint8)
POST = {"norm_placement": "post", "final_norm": False}
ENCODERS = {
    "text pre": (tiny.loaded(tiny.TEXT), TEXT),
    "text post": (tiny.loaded(replace(tiny.TEXT, embedding_scaled=True, **POST)), TEXT),
    "text learned mean": (tiny.loaded(replace(tiny.TEXT, positions="learned", pooling="mean")), TEXT),
    "digit pre": (tiny.loaded(tiny.DIGIT), IMAGE),
    "digit post": (tiny.loaded(replace(tiny.DIGIT, **POST)), IMAGE),
    "digit sinusoidal max": (
        tiny.loaded(replace(tiny.DIGIT, n_positions=4, pooling="max", positions="sinusoidal")),
        IMAGE,
    ),
}
encoders = pytest.mark.parametrize(("loaded", "given_input"), ENCODERS.values(), ids=ENCODERS)
seeds = st.integers(0, 2**32)


@given(seeds, st.lists(st.sampled_from(["class", "separator", "padding", "word", "mask"]), max_size=12))
def test_a_shuffle_is_a_permutation_that_leaves_class_token_separators_and_padding(seed, roles):
    order = shuffled(roles, seed)
    assert sorted(order) == list(range(len(roles)))
    assert order == shuffled(roles, seed)
    assert all(order[at] == at for at, role in enumerate(roles) if role not in ("word", "mask"))


def test_some_seed_moves_something():
    orders = {shuffled(("class", "word", "continuation", "unknown", "separator"), seed) for seed in range(50)}
    assert len(orders) == 6


@encoders
@settings(max_examples=10)
@given(seed=seeds)
def test_without_positions_the_encoder_is_equivariant(loaded, given_input, seed):
    before = repositioned(loaded, given_input, zeroed=True)
    order = shuffled(before.roles, seed)
    after = repositioned(loaded, given_input, order=order, zeroed=True)
    assert largest_deviation(before.pattern, after.pattern, order) < 1e-5
    np.testing.assert_allclose(after.residual, before.residual[:, order], atol=1e-4)
    np.testing.assert_allclose(after.probabilities, before.probabilities, atol=1e-5)


@encoders
def test_with_positions_it_is_not(loaded, given_input):
    before = capture(loaded, given_input)
    order = next(
        order for seed in range(9) if (order := shuffled(before.roles, seed)) != tuple(sorted(order))
    )
    after = repositioned(loaded, given_input, order=order)
    assert largest_deviation(before.pattern, after.pattern, order) > 1e-3


@encoders
def test_nothing_changed_is_the_capture_itself(loaded, given_input):
    plain = capture(loaded, given_input)
    same = repositioned(loaded, given_input, order=tuple(range(len(plain.tokens))), shift=0)
    assert same.tokens == plain.tokens
    np.testing.assert_array_equal(same.pattern, plain.pattern)
    np.testing.assert_array_equal(same.logits, plain.logits)


def test_shuffled_content_is_the_text_typed_in_that_order():
    loaded, _ = ENCODERS["text pre"]
    moved = repositioned(loaded, "great film not", order=(0, 3, 1, 2, 4))
    typed = capture(loaded, "not great film")
    assert moved.tokens == typed.tokens == ("[CLS]", "not", "great", "film", "[SEP]")
    np.testing.assert_allclose(moved.residual, typed.residual, atol=1e-6)
    np.testing.assert_allclose(moved.logits, typed.logits, atol=1e-6)


def test_shuffled_content_is_the_picture_with_its_patches_moved():
    loaded, image = ENCODERS["digit post"]
    order = (0, 3, 1, 2, 4)
    picture = shuffled_picture(loaded, image, order)
    # the patches of an 8×8 picture, row by row; the class token, position 0, is no part of it
    first, second, third, fourth = image[:4, :4], image[:4, 4:], image[4:, :4], image[4:, 4:]
    np.testing.assert_array_equal(picture, np.block([[third, first], [second, fourth]]))
    moved = repositioned(loaded, image, order=order)
    assert moved.tokens == ("[CLS]", "r1c0", "r0c0", "r0c1", "r1c1")
    np.testing.assert_allclose(moved.pattern, capture(loaded, picture).pattern, atol=1e-6)


def test_a_picture_is_shown_at_the_size_that_the_encoder_takes():
    loaded, _ = ENCODERS["digit pre"]
    assert (
        shuffled_picture(loaded, np.full((28, 28), 200, np.uint8), (0, 4, 3, 2, 1)).tolist()
        == [[200] * 8] * 8
    )


def test_restored_by_hand():
    # what stood at 2, 0, 1 is read as 0, 1, 2: the first row read is the row of 2, its first cell the key 2
    read = np.array([[22.0, 20, 21], [2, 0, 1], [12, 10, 11]])
    assert restored(read, (2, 0, 1)).tolist() == [[0, 1, 2], [10, 11, 12], [20, 21, 22]]


@given(st.permutations(range(6)), seeds)
def test_restored_undoes_the_order(order, seed):
    weights = np.random.default_rng(seed).random((2, 3, 6, 6))
    read = weights[..., order, :][..., order]
    np.testing.assert_array_equal(restored(read, order), weights)
    assert largest_deviation(weights, read, order) == 0


def test_the_largest_deviation_by_hand():
    before = np.array([[0.5, 0.5], [0.25, 0.75]])
    assert largest_deviation(before, np.array([[0.75, 0.25], [0.875, 0.125]]), (1, 0)) == 0.375


@encoders
def test_zeroed_positions_add_nothing(loaded, given_input):
    seen = {}
    with watch(loaded.model, {"embedding.content": lambda content: seen.update(content=content[0])}):
        record = repositioned(loaded, given_input, zeroed=True)
    np.testing.assert_array_equal(record.residual[0], seen["content"].numpy())


def test_sinusoids_go_on_beyond_the_table():
    loaded, _ = ENCODERS["text pre"]
    shifted = shifted_positions(loaded, 5, 100)
    angle = 102 / 10000 ** (2 / 8)
    assert shifted[2, 2:4].tolist() == pytest.approx([np.sin(angle), np.cos(angle)], abs=1e-5)
    torch.testing.assert_close(shifted_positions(loaded, 5, 3), sinusoidal(12, 8)[3:8])


def test_a_learned_table_begins_again():
    loaded, _ = ENCODERS["text learned mean"]
    table = loaded.model.embedding.position_table
    assert torch.equal(shifted_positions(loaded, 3, 10), table[[10, 11, 0]])
    assert torch.equal(shifted_positions(loaded, 3, 12), table[:3])


def test_patches_go_round_and_the_class_token_stays():
    loaded, _ = ENCODERS["digit pre"]
    table = loaded.model.embedding.position_table
    assert torch.equal(shifted_positions(loaded, 5, 1), table[[0, 2, 3, 4, 1]])
    assert torch.equal(shifted_positions(loaded, 5, 4), table)


def test_a_step_back_is_refused():
    with pytest.raises(ValueError, match="onwards only, got -1"):
        shifted_positions(ENCODERS["text pre"][0], 3, -1)


@encoders
def test_shifted_positions_are_what_is_added(loaded, given_input):
    shifted = repositioned(loaded, given_input, shift=2)
    without = repositioned(loaded, given_input, zeroed=True)
    added = shifted.residual[0] - without.residual[0]
    expected = shifted_positions(loaded, len(added), 2).detach().numpy()
    np.testing.assert_allclose(added, expected, atol=1e-6)


@encoders
def test_many_runs_at_once_are_the_single_ones(loaded, given_input, monkeypatch):
    monkeypatch.setattr("model.experiments.positions._WEIGHTS_AT_ONCE", 200)  # more than one batch
    orders = [shuffled(capture(loaded, given_input).roles, seed) for seed in range(5)]
    for zeroed in (False, True):
        found = over_orders(loaded, given_input, orders, zeroed=zeroed)
        single = [
            repositioned(loaded, given_input, order=order, zeroed=zeroed).probabilities for order in orders
        ]
        np.testing.assert_allclose(found, single, atol=1e-5)
    found = over_shifts(loaded, given_input, [0, 1, 3])
    single = [repositioned(loaded, given_input, shift=by).probabilities for by in (0, 1, 3)]
    np.testing.assert_allclose(found, single, atol=1e-5)


@pytest.mark.parametrize("order", [(0, 1, 1, 3, 4), (0, 1, 2), (1, 2, 3, 4, 5)])
def test_what_is_no_order_is_refused(order):
    with pytest.raises(ValueError, match="names each of the 5 positions once"):
        repositioned(ENCODERS["text pre"][0], "great film not", order=order)


def test_padding_that_was_typed_stays_masked():
    loaded, _ = ENCODERS["text pre"]
    before = repositioned(loaded, "great [PAD] film not", zeroed=True)
    order = shuffled(before.roles, 1)
    after = repositioned(loaded, "great [PAD] film not", order=order, zeroed=True)
    assert (after.tokens[2], after.roles[2]) == ("[PAD]", "padding")
    assert largest_deviation(before.pattern, after.pattern, order) < 1e-5
