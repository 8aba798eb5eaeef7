import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.capture.intervention import (
    Intervention,
    MaskChoice,
    at_temperature,
    masked,
    permuted_attention,
    repositioned,
)
from model.capture.replacements import Permuted, Shifted, harden, shifted_positions
from model.hooks import watch
from model.loaded import Loaded
from model.measures.changes import largest_change
from model.theory.permutation_equivariance import restore_order, shuffled_order
from model.transformer import sinusoidal
from tests.model.tiny import CLOSE, ENCODERS, encoders
from tests.tolerance import rounding

CAUSAL = masked(MaskChoice(kind="causal"))


# Temperature

SENTENCE = "not great film a b"  # seven tokens
EVERYWHERE = Intervention()


def run_at(loaded: Loaded, temperature: float, mask: Intervention = EVERYWHERE, **where):
    return capture(loaded, SENTENCE, mask + at_temperature(temperature, **where))


@given(st.floats(0.05, 20))
def test_the_first_layer_has_the_softmax_of_its_divided_scores(text_loaded, temperature):
    plain = torch.tensor(capture(text_loaded, SENTENCE).scores[0])  # its input does not change
    expected = (plain / temperature).softmax(dim=-1).numpy()
    np.testing.assert_allclose(run_at(text_loaded, temperature).pattern[0], expected, atol=1e-5)


def test_at_infinity_attention_is_uniform(text_loaded):
    assert run_at(text_loaded, math.inf).pattern == pytest.approx(1 / 7, rel=rounding(2 * 7))
    expected = np.tri(7) / np.arange(1, 8)[:, None]
    np.testing.assert_allclose(
        run_at(text_loaded, math.inf, CAUSAL).pattern[1, 0], expected, rtol=rounding(2 * 7)
    )


@pytest.mark.parametrize("mask", [EVERYWHERE, CAUSAL])
def test_at_zero_each_query_takes_its_best_allowed_key(text_loaded, mask):
    hard = run_at(text_loaded, 0.0, mask)
    best = np.where(hard.mask, hard.scores, -np.inf).argmax(axis=-1)
    np.testing.assert_array_equal(hard.pattern, np.eye(7)[best])


def test_equal_weights_share_and_a_row_without_keys_stays_empty():
    rows = torch.tensor([[0.4, 0.4, 0.2], [0.0, 0.0, 0.0], [0.1, 0.2, 0.7]])
    assert harden(rows).tolist() == [[0.5, 0.5, 0], [0, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("temperature", [0.0, 0.5, math.inf])
def test_only_the_chosen_head_changes(text_loaded, temperature):
    plain, changed = capture(text_loaded, SENTENCE), run_at(text_loaded, temperature, layer=0, head=1)
    np.testing.assert_array_equal(changed.pattern[0, 0], plain.pattern[0, 0])
    assert np.abs(changed.pattern[0, 1] - plain.pattern[0, 1]).max() > 1e-3


def test_only_the_chosen_layer_changes(text_loaded):
    plain, changed = capture(text_loaded, SENTENCE), run_at(text_loaded, math.inf, layer=1)
    np.testing.assert_array_equal(changed.pattern[0], plain.pattern[0])
    assert changed.pattern[1] == pytest.approx(1 / 7, rel=rounding(2 * 7))


@pytest.mark.parametrize("where", [{}, {"layer": 0, "head": 1}])
def test_the_activation_that_is_replaced_is_left_as_it_was(text_loaded, where):
    model = text_loaded.model
    with watch(model, at_temperature(0.5, **where).watchers(model, None)):
        scores = torch.randn(1, 2, 3, 3)
        before = scores.clone()
        model.blocks[0].attention.scores(scores)
    assert torch.equal(scores, before)


@pytest.mark.parametrize("temperature", [-1.0, math.nan])
def test_a_temperature_is_at_least_zero(temperature):
    with pytest.raises(ValueError, match="at least 0"):
        at_temperature(temperature)


def test_a_head_needs_its_layer():
    with pytest.raises(ValueError, match="head 1 needs the layer"):
        at_temperature(1.0, head=1)


# Order and positions

seeds = st.integers(0, 2**32)


@pytest.mark.rest_is_slow
@encoders
@given(seed=seeds)
def test_without_positions_the_encoder_is_equivariant(loaded, given_input, seed):
    before = capture(loaded, given_input, repositioned(zeroed=True))
    order = shuffled_order(before.roles, seed)
    after = capture(loaded, given_input, repositioned(order=order, zeroed=True))
    assert largest_change(before.pattern, restore_order(after.pattern, order)) < 1e-5
    np.testing.assert_allclose(after.residual, before.residual[:, order], atol=1e-4)
    np.testing.assert_allclose(after.probabilities, before.probabilities, atol=1e-5)


@encoders
def test_with_positions_it_is_not(loaded, given_input):
    before = capture(loaded, given_input)
    order = next(
        order for seed in range(9) if (order := shuffled_order(before.roles, seed)) != tuple(sorted(order))
    )
    after = capture(loaded, given_input, repositioned(order=order))
    assert largest_change(before.pattern, restore_order(after.pattern, order)) > 1e-3


@encoders
def test_nothing_changed_is_the_capture_itself(loaded, given_input):
    plain = capture(loaded, given_input)
    same = capture(loaded, given_input, repositioned(order=range(len(plain.tokens))))
    assert same.tokens == plain.tokens
    np.testing.assert_array_equal(same.pattern, plain.pattern)
    np.testing.assert_array_equal(same.logits, plain.logits)


def test_shuffled_content_is_the_text_typed_in_that_order():
    loaded, _ = ENCODERS["text pre"]
    moved = capture(loaded, "great film not", repositioned(order=(0, 3, 1, 2, 4)))
    typed = capture(loaded, "not great film")
    assert moved.tokens == typed.tokens == ("[CLS]", "not", "great", "film", "[SEP]")
    np.testing.assert_allclose(moved.residual, typed.residual, **CLOSE)
    np.testing.assert_allclose(moved.logits, typed.logits, **CLOSE)


@encoders
def test_zeroed_positions_add_nothing(loaded, given_input):
    seen = {}
    with watch(loaded.model, {"embedding.content": lambda content: seen.update(content=content[0])}):
        record = capture(loaded, given_input, repositioned(zeroed=True))
    np.testing.assert_array_equal(record.residual[0], seen["content"].numpy())


def test_sinusoids_go_on_beyond_the_table():
    model = ENCODERS["text pre"][0].model
    shifted = shifted_positions(model, 5, 100)
    angle = 102 / 10000 ** (2 / 8)
    assert shifted[2, 2:4].tolist() == pytest.approx([np.sin(angle), np.cos(angle)], abs=1e-5)
    torch.testing.assert_close(shifted_positions(model, 5, 3), sinusoidal(12, 8)[3:8])


def test_a_learned_table_begins_again():
    model = ENCODERS["text learned mean"][0].model
    table = model.embedding.position_table
    assert torch.equal(shifted_positions(model, 3, 10), table[[10, 11, 0]])
    assert torch.equal(shifted_positions(model, 3, 12), table[:3])


def test_patches_go_round_and_the_class_token_stays():
    model = ENCODERS["digit pre"][0].model
    table = model.embedding.position_table
    assert torch.equal(shifted_positions(model, 5, 1), table[[0, 2, 3, 4, 1]])
    assert torch.equal(shifted_positions(model, 5, 4), table)


def test_a_step_back_is_refused():
    with pytest.raises(ValueError, match="onwards only, got -1"):
        shifted_positions(ENCODERS["text pre"][0].model, 3, -1)
    with pytest.raises(ValueError, match="onwards only, got -1"):
        capture(ENCODERS["text pre"][0], "film", repositioned(shift=-1))


@encoders
def test_shifted_positions_are_what_is_added(loaded, given_input):
    shifted = capture(loaded, given_input, repositioned(shift=2))
    without = capture(loaded, given_input, repositioned(zeroed=True))
    added = shifted.residual[0] - without.residual[0]
    expected = Shifted(2)(loaded.model, torch.empty(1, len(added), added.shape[1]))[0]
    np.testing.assert_allclose(added, expected.detach(), **CLOSE)


@pytest.mark.parametrize("order", [(0, 1, 1, 3, 4), (0, 1, 2), (1, 2, 3, 4, 5)])
def test_what_is_no_order_is_refused(order):
    with pytest.raises(ValueError, match="names each of the 5 positions once"):
        capture(ENCODERS["text pre"][0], "great film not", repositioned(order=order))


def test_padding_that_was_typed_stays_masked():
    loaded, _ = ENCODERS["text pre"]
    before = capture(loaded, "great [PAD] film not", repositioned(zeroed=True))
    order = shuffled_order(before.roles, 1)
    after = capture(loaded, "great [PAD] film not", repositioned(order=order, zeroed=True))
    assert (after.tokens[2], after.roles[2]) == ("[PAD]", "padding")
    assert largest_change(before.pattern, restore_order(after.pattern, order)) < 1e-5


# Permuted attention


@given(st.integers(0, 10**6), st.sets(st.integers(0, 6), min_size=1))
def test_each_row_keeps_its_weights_among_the_keys(text_loaded, seed, keys):
    plain = torch.tensor(capture(text_loaded, SENTENCE).pattern[:1])
    among = sorted(keys)
    permuted = Permuted(seed, tuple(among))(text_loaded.model, plain)
    assert torch.equal(permuted[..., among].sort().values, plain[..., among].sort().values)
    others = [key for key in range(7) if key not in keys]
    assert torch.equal(permuted[..., others], plain[..., others])
    assert torch.equal(Permuted(seed, tuple(among))(text_loaded.model, plain), permuted)
    assert torch.equal(Permuted(seed)(text_loaded.model, plain[..., :1]), plain[..., :1])


def test_permuted_attention_is_another_one_in_each_layer_head_and_row(text_loaded):
    position = torch.arange(7.0).expand(1, 2, 7, 7)  # a weight that says which key it was of
    replacements = [change for _, change in permuted_attention(3, 2).replacements]
    orders = torch.cat([change(text_loaded.model, position) for change in replacements]).reshape(-1, 7)
    assert len({tuple(order) for order in orders.tolist()}) > 20
    again = permuted_attention(4, 2).replacements[0][1](text_loaded.model, position)
    assert not torch.equal(again[0], orders.reshape(2, 2, 7, 7)[0])


@encoders
def test_permuted_attention_goes_on_through_the_layers(loaded, given_input):
    """The second layer reads what the permuted weights of the first one made."""
    plain, changed = (capture(loaded, given_input, it) for it in (None, permuted_attention(0, 2)))
    assert largest_change(plain.pattern[1], changed.pattern[1]) > 0
    np.testing.assert_allclose(np.sort(changed.pattern[0]), np.sort(plain.pattern[0]))
    np.testing.assert_allclose(changed.z, changed.pattern @ changed.v, **CLOSE)
