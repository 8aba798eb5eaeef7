import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model.capture import capture
from model.experiments.temperature import at_temperature, harden, probabilities_over
from model.hooks import watch
from model.masks import causal
from tests.tolerance import rounding, through

TEXT = "not great film a b"


def at(loaded, temperature, mask=None, **where):
    watchers = at_temperature(loaded.config, temperature, **where)
    return capture(loaded, TEXT, mask=mask, watchers=watchers)


def test_at_one_nothing_changes(text_loaded):
    np.testing.assert_array_equal(at(text_loaded, 1.0).logits, capture(text_loaded, TEXT).logits)


@settings(max_examples=30)
@given(st.floats(0.05, 20))
def test_the_first_layer_has_the_softmax_of_its_divided_scores(text_loaded, temperature):
    plain = torch.tensor(capture(text_loaded, TEXT).scores[0])  # its input does not change
    expected = (plain / temperature).softmax(dim=-1).numpy()
    np.testing.assert_allclose(at(text_loaded, temperature).pattern[0], expected, atol=1e-5)


def test_at_infinity_attention_is_uniform(text_loaded):
    assert at(text_loaded, math.inf).pattern == pytest.approx(1 / 7, rel=rounding(2 * 7))
    allowed = causal(7)
    np.testing.assert_allclose(
        at(text_loaded, math.inf, allowed).pattern[1, 0],
        allowed.numpy() / np.arange(1, 8)[:, None],
        rtol=rounding(2 * 7),
    )


@pytest.mark.parametrize("mask", [None, causal(7)])
def test_at_zero_each_query_takes_its_best_allowed_key(text_loaded, mask):
    allowed = np.ones((7, 7), bool) if mask is None else mask.numpy()
    hard = at(text_loaded, 0.0, mask)
    best = np.where(allowed, hard.scores, -np.inf).argmax(axis=-1)
    np.testing.assert_array_equal(hard.pattern, np.eye(7)[best])


def test_zero_is_what_small_temperatures_come_to(text_loaded):
    np.testing.assert_allclose(at(text_loaded, 1e-4).logits, at(text_loaded, 0.0).logits, atol=1e-4)


def test_infinity_is_what_large_temperatures_come_to(text_loaded):
    np.testing.assert_allclose(at(text_loaded, 1e5).logits, at(text_loaded, math.inf).logits, atol=1e-4)


def test_equal_weights_share_and_a_row_without_keys_stays_empty():
    rows = torch.tensor([[0.4, 0.4, 0.2], [0.0, 0.0, 0.0], [0.1, 0.2, 0.7]])
    assert harden(rows).tolist() == [[0.5, 0.5, 0], [0, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("temperature", [0.0, 0.5, math.inf])
def test_only_the_chosen_head_changes(text_loaded, temperature):
    plain, changed = capture(text_loaded, TEXT), at(text_loaded, temperature, layer=0, head=1)
    np.testing.assert_array_equal(changed.pattern[0, 0], plain.pattern[0, 0])
    assert np.abs(changed.pattern[0, 1] - plain.pattern[0, 1]).max() > 1e-3


def test_only_the_chosen_layer_changes(text_loaded):
    plain, changed = capture(text_loaded, TEXT), at(text_loaded, math.inf, layer=1)
    np.testing.assert_array_equal(changed.pattern[0], plain.pattern[0])
    assert changed.pattern[1] == pytest.approx(1 / 7, rel=rounding(2 * 7))


def test_the_activation_that_is_watched_is_left_as_it_was(text_loaded):
    with watch(text_loaded.model, at_temperature(text_loaded.config, 0.5)):
        scores = torch.randn(1, 2, 3, 3)
        before = scores.clone()
        text_loaded.model.blocks[0].attention.scores(scores)
    assert torch.equal(scores, before)


@pytest.mark.parametrize("where", [{}, {"layer": 1}, {"layer": 1, "head": 0}])
def test_the_answers_are_those_of_single_runs(text_loaded, where):
    temperatures = [0.0, 0.3, 1.0, math.inf]
    found = probabilities_over(text_loaded, TEXT, temperatures, **where)
    expected = [at(text_loaded, t, **where).probabilities for t in temperatures]
    np.testing.assert_allclose(found, expected, atol=through(text_loaded.config))


def test_digits_are_asked_as_well(digit_loaded, image):
    found = probabilities_over(digit_loaded, image, [0.0, 1.0])
    assert found.shape == (2, 10)
    assert found.sum(axis=1) == pytest.approx(1, rel=rounding(2 * 10))


@pytest.mark.parametrize("temperature", [-1.0, math.nan])
def test_a_temperature_is_at_least_zero(text_loaded, temperature):
    with pytest.raises(ValueError, match="at least 0"):
        at_temperature(text_loaded.config, temperature)


def test_a_head_needs_its_layer(text_loaded):
    with pytest.raises(ValueError, match="head 1 needs the layer"):
        at_temperature(text_loaded.config, 1.0, head=1)
