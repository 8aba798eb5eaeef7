import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from model.bare import from_arrays
from model.capture import capture
from model.hooks import watch
from model.inputs import prepare
from model.intervention import permuted_attention, without_keys
from model.knock_out import compared, effects, knock_out
from model.measures.faithfulness import (
    BAND,
    N_ORDERS,
    N_SHUFFLES,
    Agreement,
    agreement,
    area,
    correlates,
    deletion,
    faithfulness,
    order_of,
    other_attention,
    random_orders,
    scores_of,
    steps,
    verdict,
)
from tests.model import tiny
from tests.model.tiny import CLOSE, encoders

TEXT = "not great film a b c"


def one(spearman: float, p: float, n: int = 20) -> Agreement:
    return Agreement(*(np.array(each) for each in (spearman, p, spearman - 0.1, spearman + 0.1)), n)


# Scores


def test_two_tokens_by_hand():
    """Of queries 0 and 1 on keys 0 and 1: the class token's row, or the mean of both."""
    pattern = np.array([[[[0.75, 0.25], [0.5, 0.5]]]], np.float32)
    record = from_arrays(pattern, tokens=("[CLS]", "film"))
    np.testing.assert_array_equal(scores_of(record, 0, 0, classified=True), [0.75, 0.25])
    np.testing.assert_array_equal(scores_of(record, 0, 0, classified=False), [0.625, 0.375])
    # Of two positions, the order of the scores is that of the effects, or the reverse of it.
    assert agreement(np.array([0.25, 0.75]), np.array([1.0, 2.0])).spearman == pytest.approx(1)
    assert agreement(np.array([0.25, 0.75]), np.array([2.0, 1.0])).spearman == pytest.approx(-1)
    # A deletion curve of two positions has the steps 0, 1 and 2: two trapezoids of width 1/2.
    assert steps(2) == (0, 1, 2)
    assert area(np.array([1.0, 0.5, 0.0]), 2) == 0.5
    assert area(np.array([0.9, 0.1, 0.3]), 2) == pytest.approx(0.25 * (0.9 + 2 * 0.1 + 0.3))


def test_padding_asks_for_nothing(text_loaded):
    record = capture(text_loaded, "film [PAD] great")
    by_hand = record.pattern[1, 0][[0, 1, 3, 4]].mean(axis=0)
    np.testing.assert_allclose(scores_of(record, 1, 0, classified=False), by_hand, rtol=1e-6)
    np.testing.assert_array_equal(scores_of(record, 1, 0), record.pattern[1, 0, 0])


# Correlation


@given(
    arrays(float, (3, 9), elements=st.integers(0, 4).map(float)),
    arrays(float, 9, elements=st.integers(0, 4).map(float)),
)
def test_spearman_is_that_of_scipy(scores, effect):
    found = agreement(scores, effect)
    for row, value, p in zip(scores, found.spearman, found.p, strict=True):
        if len(set(row)) == 1 or len(set(effect)) == 1:
            assert math.isnan(value)
            assert math.isnan(p)
        else:
            assert value == pytest.approx(stats.spearmanr(row, effect).statistic, abs=1e-9)
            assert 1 / (1 + N_SHUFFLES) <= p <= 1
    assert correlates(found).dtype == bool


@settings(max_examples=30)
@given(arrays(float, 12, elements=st.floats(0, 1), unique=True), st.randoms(use_true_random=False))
def test_only_the_order_of_scores_counts(scores, random):
    effect = np.array([random.random() for _ in range(12)])
    found = agreement(scores, effect)
    np.testing.assert_allclose(agreement(np.argsort(np.argsort(scores)) * 7.0 + 3, effect)[:4], found[:4])
    np.testing.assert_allclose(agreement(-scores, effect).spearman, -found.spearman, atol=1e-12)


def test_p_is_that_of_every_order():
    rng = np.random.default_rng(3)
    scores, effect = rng.random(7), rng.random(7)
    scores[3] = scores[4]
    exact = stats.permutation_test(
        (scores,),
        lambda x: stats.spearmanr(x, effect).statistic,
        permutation_type="pairings",
        n_resamples=10**5,
    )
    assert agreement(scores, effect).p == pytest.approx(exact.pvalue, abs=4 * 0.5 / math.sqrt(N_SHUFFLES))


def test_the_interval_by_hand():
    scores, effect = np.arange(7.0), np.array([0.0, 2, 1, 3, 4, 6, 5])
    value = stats.spearmanr(scores, effect).statistic
    reach = 1.959964 * math.sqrt((1 + value**2 / 2) / 4)
    found = agreement(scores, effect)
    assert found.low == pytest.approx(math.tanh(math.atanh(value) - reach))
    assert found.high == pytest.approx(math.tanh(math.atanh(value) + reach))


@pytest.mark.parametrize("n", [0, 1])
def test_one_position_correlates_with_nothing(n):
    found = agreement(np.ones((2, n)), np.ones(n))
    assert np.isnan(found.spearman).all()
    assert found.n == n
    assert not correlates(found).any()


def test_few_positions_never_suffice():
    """The least p of 4 positions is 2 of 24 orders, and of 3 there is no interval."""
    assert not correlates(agreement(np.arange(4.0), np.arange(4.0)))
    assert math.isnan(agreement(np.arange(3.0), np.arange(3.0)).low)
    assert correlates(agreement(np.arange(6.0), np.arange(6.0)))


# Curves


@given(st.integers(0, 400))
def test_steps_are_the_same_from_either_end(n):
    found = steps(n)
    assert found == tuple(sorted({n - step for step in found}))
    assert (found[0], found[-1]) == (0, n)
    assert len(found) <= 12
    assert all(later - step <= n // 10 + 1 for step, later in pairwise(found))


def test_an_order_is_from_the_highest_score_down():
    assert order_of(np.array([0.9, 0.1, 0.4, 0.4, 0.7]), (1, 2, 3, 4)) == (4, 2, 3, 1)


def test_random_orders_are_orders_and_always_the_same():
    positions = tuple(range(1, 20, 2))
    orders = random_orders(positions)
    assert len(set(orders)) == N_ORDERS
    assert all(tuple(sorted(order)) == positions for order in orders)
    assert orders == random_orders(positions)


@encoders
def test_a_deletion_curve_is_what_a_plain_loop_finds(loaded, given_input):
    record = capture(loaded, given_input)
    order = compared(record)[::-1]
    by_loop = [
        capture(loaded, given_input, without_keys(*order[:k])).probabilities[record.logits.argmax()]
        if k
        else record.probabilities.max()
        for k in steps(len(order))
    ]
    (curve,) = deletion(loaded, given_input, [order])
    np.testing.assert_allclose(curve, by_loop, **CLOSE)


def test_insertion_is_deletion_of_the_reversed_order_read_backwards(text_loaded):
    record = capture(text_loaded, TEXT)
    order = (3, 1, 2, 6, 5, 4, 7)
    by_loop = []
    for k in steps(len(order)):
        missing = [at for at in order if at not in order[:k]]
        changed = without_keys(*missing) if missing else None
        by_loop.append(capture(text_loaded, TEXT, changed).probabilities[record.logits.argmax()])
    found = deletion(text_loaded, TEXT, [order[::-1]])[0, ::-1]
    np.testing.assert_allclose(found, by_loop, **CLOSE)


def test_without_classes_a_curve_is_a_cosine_similarity():
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=(), pooling="mean"))
    before = capture(loaded, TEXT).pooled
    (curve,) = deletion(loaded, TEXT, [(1, 2, 3)], "mask")
    after = loaded.tokenizer.token_to_id("[MASK]")
    inputs, _ = prepare(loaded, TEXT)
    inputs[0, 1:4] = after
    state = loaded.model(inputs)[0].detach().numpy()
    assert curve[0] == pytest.approx(1, abs=1e-6)
    expected = before @ state / np.linalg.norm(before) / np.linalg.norm(state)
    assert curve[-1] == pytest.approx(expected, abs=1e-5)


@given(st.integers(1, 60), st.floats(0, 1))
def test_the_area_under_a_constant_is_that_constant(n, height):
    assert area(np.full((2, len(steps(n))), height), n) == pytest.approx([height, height])


# Other attention


@encoders
def test_uniform_and_permuted_attention(loaded, given_input):
    record = capture(loaded, given_input)
    found = other_attention(loaded, given_input, 3)
    assert len(found.permuted) == 3
    assert found == other_attention(loaded, given_input, 3)
    n = len(record)

    def spread(module, name):
        return {f"blocks.{layer}.attention.{name}": module for layer in range(loaded.config.n_layers)}

    uniform = spread(lambda pattern: pattern.new_full(pattern.shape, 1 / n), "pattern")
    with watch(loaded.model, uniform):
        moved = capture(loaded, given_input).probabilities
    assert found.uniform == pytest.approx(np.abs(moved - record.probabilities).sum() / 2, abs=1e-5)
    moved = capture(loaded, given_input, permuted_attention(2, 2)).probabilities
    assert found.permuted[2] == pytest.approx(np.abs(moved - record.probabilities).sum() / 2, abs=1e-5)


def test_attention_is_permuted_among_the_keys_that_are_no_padding(text_loaded):
    text = "film [PAD] great"
    changed = permuted_attention(0, 2, (0, 1, 3, 4))
    assert not capture(text_loaded, text, changed).pattern[..., 2].any()
    before, after = (capture(text_loaded, text, it).probabilities for it in (None, changed))
    moved = np.abs(after - before).sum() / 2
    assert other_attention(text_loaded, text, 1).permuted == pytest.approx((moved,), abs=1e-6)


def test_attention_of_one_key_cannot_be_permuted(text_loaded):
    found = other_attention(replace(text_loaded, tokenizer=tiny.tokenizer(2)), "film")
    assert len(found.permuted) == 4
    alone = tiny.loaded(replace(tiny.DIGIT, image_size=4, n_positions=1, pooling="mean"))
    picture = np.full((4, 4), 90, np.uint8)
    assert other_attention(alone, picture).permuted == pytest.approx([0] * 4, abs=1e-6)


# The rule


@pytest.mark.parametrize(
    ("spearman", "p", "lower", "readable"),
    [(0.6, 0.01, 0.3, True), (0.4, 0.01, 0.3, False), (0.6, 0.06, 0.3, False), (0.6, 0.01, 0.0, False)],
)
def test_both_parts_of_the_rule_must_hold(spearman, p, lower, readable):
    random = np.array([[1.0, level, 0.0] for level in np.linspace(0.4, 0.6, 10)])
    mean = np.mean(area(random, 2))
    found = verdict(one(spearman, p, 2), np.array([1.0, 0.5 - 2 * lower, 0.0]), random)
    assert found.readable is readable
    assert found.random_mean == pytest.approx(mean)
    assert found.random_sd == pytest.approx(np.std(area(random, 2), ddof=1))
    assert found.deletes == (found.area < found.random_mean - BAND * found.random_sd)


def test_without_curves_the_rule_is_decided_only_where_its_first_part_fails():
    assert verdict(one(0.2, 0.4)).readable is False
    assert verdict(one(0.7, 0.001)).readable is None
    assert verdict(one(math.nan, math.nan)).readable is False


# Many maps at once


@encoders
def test_many_maps_are_judged_as_each_alone(loaded, given_input):
    record = capture(loaded, given_input)
    at = list(compared(record))
    effect = effects(record, knock_out(loaded, given_input))
    best = np.zeros(len(record))
    best[at] = effect
    heads = [[scores_of(record, layer, head) for head in range(2)] for layer in range(2)]
    maps = {"attention": np.array(heads), "effects": best, "nothing": np.zeros(len(record))}
    found = faithfulness(loaded, given_input, maps)
    light = faithfulness(loaded, given_input, maps, curves=False)
    assert found["attention"].readable.shape == (2, 2)
    assert found["effects"].agreement.spearman == pytest.approx(1)
    assert math.isnan(found["nothing"].agreement.spearman)
    assert not found["nothing"].readable
    random = deletion(loaded, given_input, random_orders(at))
    for name, each in maps.items():
        np.testing.assert_array_equal(light[name].readable, correlates(found[name].agreement))
        for index in np.ndindex(each.shape[:-1]):
            alone = agreement(each[index][at], effect)
            np.testing.assert_allclose(alone.spearman, found[name].agreement.spearman[index])
            curve = deletion(loaded, given_input, [order_of(each[index], at)])[0]
            assert bool(found[name].readable[index]) == bool(verdict(alone, curve, random).readable)
