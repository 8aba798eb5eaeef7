import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from model.capture import capture
from model.capture.intervention import at_temperature, permuted_attention, without_keys
from model.checkpoint import load
from model.experiments import faithfulness as measure
from model.experiments.faithfulness import (
    BAND,
    FEWEST,
    N_ORDERS,
    N_SHUFFLES,
    SIGNIFICANT,
    Agreement,
    Undecidable,
    agreement,
    deletion,
    deletion_area,
    faithfulness,
    head_scores,
    is_correlated,
    map_scores,
    other_attention,
    random_orders,
    removal_counts,
    rounded_effects,
    sort_by_score,
    verdict,
)
from model.experiments.knock_out import knock_out, log_odds_falls, removable_positions
from model.experiments.masked_word import MaskedWord
from model.hooks import watch
from model.inputs import prepare
from model.measures.changes import log_odds
from model.record.from_arrays import from_arrays
from tests.model import tiny
from tests.model.experiments.test_masked_word import log_p as log_p_of
from tests.model.tiny import CLOSE, encoders

TEXT = "not great film a b c"


def one(spearman: float, p: float, n: int = 20) -> Agreement:
    return Agreement(*map(np.array, (spearman, p, spearman - 0.1, spearman + 0.1)), n)


# Scores


def test_two_tokens_by_hand():
    """Of queries 0 and 1 on keys 0 and 1: the class token's row, or the mean of both."""
    pattern = np.array([[[[0.75, 0.25], [0.5, 0.5]]]], np.float32)
    record = from_arrays(pattern, tokens=("[CLS]", "film"))
    np.testing.assert_array_equal(head_scores(record, 0, 0, classified=True), [0.75, 0.25])
    np.testing.assert_array_equal(head_scores(record, 0, 0, classified=False), [0.625, 0.375])
    # Of two positions, the order of the scores is that of the effects, or the reverse of it.
    assert agreement(np.array([0.25, 0.75]), np.array([1.0, 2.0])).spearman == pytest.approx(1)
    assert agreement(np.array([0.25, 0.75]), np.array([2.0, 1.0])).spearman == pytest.approx(-1)
    # A deletion curve of two positions has the steps 0, 1 and 2: two trapezoids of width 1/2.
    assert removal_counts(2) == (0, 1, 2)
    assert deletion_area(np.array([1.0, 0.5, 0.0]), 2) == 0.5
    assert deletion_area(np.array([0.9, 0.1, 0.3]), 2) == pytest.approx(0.25 * (0.9 + 2 * 0.1 + 0.3))


def test_padding_asks_for_nothing(text_loaded):
    record = capture(text_loaded, "film [PAD] great")
    by_hand = record.pattern[1, 0][[0, 1, 3, 4]].mean(axis=0)
    np.testing.assert_allclose(head_scores(record, 1, 0, classified=False), by_hand, rtol=1e-6)
    np.testing.assert_array_equal(head_scores(record, 1, 0), record.pattern[1, 0, 0])


# Correlation


@given(
    arrays(float, (3, 9), elements=st.integers(0, 4).map(float)),
    arrays(float, 9, elements=st.integers(0, 4).map(float)),
)
def test_spearman_is_that_of_scipy(scores, effect):
    result = agreement(scores, effect)
    for row, value, p in zip(scores, result.spearman, result.p, strict=True):
        if len(set(row)) == 1 or len(set(effect)) == 1:
            assert math.isnan(value)
            assert math.isnan(p)
        else:
            assert value == pytest.approx(stats.spearmanr(row, effect).statistic, abs=1e-9)
            assert 1 / (1 + N_SHUFFLES) <= p <= 1
    assert is_correlated(result).dtype == bool


@pytest.mark.slow
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
    result = agreement(scores, effect)
    assert result.low == pytest.approx(math.tanh(math.atanh(value) - reach))
    assert result.high == pytest.approx(math.tanh(math.atanh(value) + reach))


@pytest.mark.parametrize("n", [0, 1])
def test_one_position_correlates_with_nothing(n):
    result = agreement(np.ones((2, n)), np.ones(n))
    assert np.isnan(result.spearman).all()
    assert result.n == n
    assert not is_correlated(result).any()


def test_few_positions_never_suffice():
    """The least p of 4 positions is 2 of 24 orders, and of 3 there is no interval."""
    assert not is_correlated(agreement(np.arange(4.0), np.arange(4.0)))
    assert math.isnan(agreement(np.arange(3.0), np.arange(3.0)).low)
    assert is_correlated(agreement(np.arange(6.0), np.arange(6.0)))


# Curves


@given(st.integers(0, 400))
def test_steps_are_the_same_from_either_end(n):
    result = removal_counts(n)
    assert result == tuple(sorted({n - step for step in result}))
    assert (result[0], result[-1]) == (0, n)
    assert len(result) <= 12
    assert all(later - step <= n // 10 + 1 for step, later in pairwise(result))


def test_an_order_is_from_the_highest_score_down():
    assert sort_by_score(np.array([0.9, 0.1, 0.4, 0.4, 0.7]), (1, 2, 3, 4)) == (4, 2, 3, 1)


def test_random_orders_are_orders_and_always_the_same():
    positions = tuple(range(1, 20, 2))
    orders = random_orders(positions)
    assert len(set(orders)) == N_ORDERS
    assert all(tuple(sorted(order)) == positions for order in orders)
    assert orders == random_orders(positions)


def falls_by_loop(loaded, model_input, sets) -> np.ndarray:
    """Falls of the log-odds of the predicted class without each of the `sets` of positions, each in a forward of its own."""
    record = capture(loaded, model_input)
    followed = int(record.logits.argmax())
    logits = [capture(loaded, model_input, without_keys(*gone) if gone else None).logits for gone in sets]
    return log_odds(record.logits, followed) - log_odds(np.array(logits), followed)


@pytest.mark.rest_is_slow
@encoders
def test_a_deletion_curve_is_what_a_plain_loop_finds(loaded, given_input):
    order = removable_positions(capture(loaded, given_input))[::-1]
    (curve,) = deletion(loaded, given_input, [order])
    fallen = falls_by_loop(loaded, given_input, [order[:k] for k in removal_counts(len(order))])
    np.testing.assert_allclose(curve, fallen, **CLOSE)
    assert curve[0] == 0


def test_insertion_is_deletion_of_the_reversed_order_read_backwards(text_loaded):
    order = (3, 1, 2, 6, 5, 4, 7)
    fallen = falls_by_loop(text_loaded, TEXT, [order[k:] for k in removal_counts(len(order))])
    curve = deletion(text_loaded, TEXT, [order[::-1]])[0, ::-1]
    np.testing.assert_allclose(curve, fallen, **CLOSE)


def test_without_classes_a_curve_is_a_cosine_distance():
    loaded = tiny.loaded(replace(tiny.TEXT, class_names=(), pooling="mean"))
    before = capture(loaded, TEXT).pooled
    (curve,) = deletion(loaded, TEXT, [(1, 2, 3)], "mask")
    inputs, _ = prepare(loaded, TEXT)
    inputs[0, 1:4] = loaded.tokenizer.token_to_id("[MASK]")
    state = loaded.model(inputs)[0].detach().numpy()
    assert curve[0] == pytest.approx(0, abs=1e-6)
    expected = 1 - before @ state / np.linalg.norm(before) / np.linalg.norm(state)
    assert curve[-1] == pytest.approx(expected, abs=1e-5)


# Other attention


@pytest.mark.rest_is_slow
@encoders
def test_uniform_and_permuted_attention(loaded, given_input):
    record = capture(loaded, given_input)
    result = other_attention(loaded, given_input, 3)
    assert len(result.permuted) == 3
    assert result == other_attention(loaded, given_input, 3)
    names = [f"blocks.{layer}.attention.pattern" for layer in range(loaded.config.n_layers)]
    uniform = dict.fromkeys(names, lambda pattern: pattern.new_full(pattern.shape, 1 / len(record)))
    with watch(loaded.model, uniform):
        moved = capture(loaded, given_input).probabilities
    assert result.uniform == pytest.approx(np.abs(moved - record.probabilities).sum() / 2, abs=1e-5)
    moved = capture(loaded, given_input, permuted_attention(2, 2)).probabilities
    assert result.permuted[2] == pytest.approx(np.abs(moved - record.probabilities).sum() / 2, abs=1e-5)


def test_attention_is_permuted_among_the_keys_that_are_no_padding(text_loaded):
    text = "film [PAD] great"
    changed = permuted_attention(0, 2, (0, 1, 3, 4))
    assert not capture(text_loaded, text, changed).pattern[..., 2].any()
    before, after = (capture(text_loaded, text, change).probabilities for change in (None, changed))
    moved = np.abs(after - before).sum() / 2
    assert other_attention(text_loaded, text, 1).permuted == pytest.approx((moved,), abs=1e-6)


def test_attention_of_one_key_cannot_be_permuted(text_loaded):
    result = other_attention(replace(text_loaded, tokenizer=tiny.tokenizer(2)), "film")
    assert len(result.permuted) == 4
    alone = tiny.loaded(replace(tiny.DIGIT, image_size=4, n_positions=1, pooling="mean"))
    picture = np.full((4, 4), 90, np.uint8)
    assert other_attention(alone, picture).permuted == pytest.approx([0] * 4, abs=1e-6)


# The rule

EFFECT = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
RANDOM = np.array([np.linspace(0, level, 6) for level in np.linspace(4, 6, 10)])  # areas of 2 to 3 nats


def curve_with_area(area_under: float) -> np.ndarray:
    return np.linspace(0, 2 * area_under, 6)


@pytest.mark.parametrize(
    ("spearman", "p", "area_under", "readable"),
    [(0.6, 0.01, 3.5, True), (0.4, 0.01, 3.5, False), (0.6, 0.06, 3.5, False), (0.6, 0.01, 2.5, False)],
)
def test_both_parts_of_the_rule_must_hold(spearman, p, area_under, readable):
    judged = verdict(one(spearman, p, 5), EFFECT, curve_with_area(area_under), curve_with_area(4), RANDOM)
    areas = np.trapezoid(RANDOM, np.linspace(0, 1, 6), axis=1)
    assert judged.undecidable is None
    assert judged.readable is readable
    assert judged.area == pytest.approx(area_under)
    assert judged.deletion_areas.bound == pytest.approx(areas.mean() + BAND * areas.std(ddof=1))
    assert judged.passes_deletion == (area_under > judged.deletion_areas.bound)


def test_where_the_perfect_map_fails_nothing_can_be_told():
    """The map itself would pass, or fail: neither says anything."""
    for spearman in (0.9, -0.9):
        judged = verdict(one(spearman, 0.001, 5), EFFECT, curve_with_area(4), curve_with_area(2.5), RANDOM)
        assert judged.undecidable is Undecidable.NO_SOONER
        assert judged.readable is None
    weak = verdict(one(0.9, 0.001, 5), EFFECT / 100, curve_with_area(4), curve_with_area(2.5), RANDOM)
    assert weak.undecidable is Undecidable.UNMOVED


@pytest.mark.parametrize(
    ("effect", "p"), [((0.0, 0, 0, 0, 3, 3), 1 / 15), ((1.0, 1, 1, 1, 1, 0), 1 / 6)], ids=["two", "one"]
)
def test_where_effects_are_equal_the_perfect_map_fails_by_its_p(effect, p):
    """Of the 15 orders of two 3 and four 0, and the 6 of one 0, one alone agrees as well; the shuffles are 4,999."""
    perfect = np.array(effect)
    agreed = agreement(perfect, perfect)
    assert (agreed.spearman, agreed.p) == (pytest.approx(1), pytest.approx(p, abs=0.02))
    curve = np.linspace(0, 8, 7)
    judged = verdict(agreed, perfect, curve, curve, np.linspace(0, np.linspace(4, 6, 10), 7).T)
    assert judged.undecidable is Undecidable.TOO_EQUAL
    assert judged.readable is None


@pytest.mark.parametrize(
    ("size", "noise", "in_nats"), [(1, 0.0, True), (1, 9e-6, True), (60, 5e-5, True), (1e-3, 9e-7, False)]
)
def test_effects_that_differ_by_rounding_are_equal(size, noise, in_nats):
    equal = size * np.array([0.276, 0.276, 0.276, 0.276, 0.513, -0.29])
    effect = rounded_effects(equal + noise * np.array([0, 1, -1, 0, 0, 0]), in_nats=in_nats)
    agreed = agreement(effect, effect)
    assert agreed.p == agreement(equal, equal).p > SIGNIFICANT


def test_small_distances_keep_their_order():
    effect = 1e-5 * np.array([1.0, 3.0, 2.0, 5.0, 4.0])
    np.testing.assert_array_equal(rounded_effects(effect, in_nats=False), effect)


def test_scores_that_differ_by_rounding_are_equal():
    """A head that attends to all alike has no order; small weights keep theirs, for which they are large enough."""
    uniform = np.full(8, np.float32(1 / 8)) * (1 + np.float32(6e-8) * np.arange(8, dtype=np.float32))
    assert math.isnan(agreement(uniform, np.arange(8.0)).spearman)
    assert agreement(10.0 ** np.arange(-30, -22), np.arange(8.0)).spearman == pytest.approx(1)


def test_where_random_orders_do_not_vary_rounding_is_not_sooner():
    """Each position takes away the same: all areas are equal but for the order of sums."""
    effect = np.arange(1.0, 7.0)
    curve = np.linspace(0, 6, 7)
    same = verdict(agreement(effect, effect), effect, curve + 1e-9, curve + 1e-9, np.tile(curve, (10, 1)))
    assert same.undecidable is Undecidable.NO_SOONER
    assert same.passes_deletion is False


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "text", ["film film film film good", "film film good film film", "film film film film film"]
)
def test_the_same_words_in_another_order_have_one_verdict(text):
    """An encoder that attends to all alike and knows no positions: the equal words have equal effects, but for 5e-7."""
    loaded = load(Path("checkpoints/imdb-pre-ln"))
    with torch.no_grad():
        loaded.model.embedding.position_table.zero_()
        for block in loaded.model.blocks:
            for parameter in block.attention.w_q.parameters():
                parameter.zero_()
    record = capture(loaded, text)
    scores = np.zeros(len(record))
    positions = list(removable_positions(record))
    scores[positions] = log_odds_falls(record, knock_out(loaded, text, answer="logits"))
    judged, reason = faithfulness(loaded, text, {"perfect": scores[None]})
    assert judged["perfect"].agreement.p[0] > SIGNIFICANT
    assert reason is Undecidable.TOO_EQUAL


def test_without_curves_nothing_is_decided():
    for spearman in (0.2, 0.7, math.nan):
        judged = verdict(one(spearman, 0.001), EFFECT)
        assert (judged.readable, judged.undecidable) == (None, None)
    assert verdict(one(0.9, 0.001, FEWEST - 1), EFFECT[:-1]).undecidable is Undecidable.TOO_FEW


# Encoders whose effects are known


class Made:
    """Stands in for an encoder: the log-odds of its class are `answer(present)`, with one flag a position."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, loaded, n, answer):
        self.loaded, self.n, self.answer = loaded, n, answer
        monkeypatch.setattr(measure, "explained_positions", lambda *_: tuple(range(n)))
        monkeypatch.setattr(measure, "knock_out_interventions", lambda *arguments: arguments[2])
        monkeypatch.setattr(measure, "probabilities", lambda *arguments: self.answers(arguments[2])[None])
        monkeypatch.setattr(
            measure, "knock_out", lambda *arguments: self.answers([(position,) for position in arguments[3]])
        )
        whole = self.answers([()])[0]
        monkeypatch.setattr(
            measure, "log_odds_falls", lambda _, answers: log_odds(whole, 0) - log_odds(answers, 0)
        )

    def answers(self, sets):
        present = np.array([[position not in gone for position in range(self.n)] for gone in sets])
        logits = np.array([self.answer(flags) for flags in present])
        return np.stack([logits, np.zeros_like(logits)], axis=-1)

    def judged(self, **maps):
        return measure.faithfulness(self.loaded, "not great film", maps)


@pytest.fixture
def made(monkeypatch, text_loaded):
    return lambda n, answer: Made(monkeypatch, text_loaded, n, answer)


def test_words_that_add_up_can_be_told_and_the_perfect_map_passes(made):
    weights = np.random.default_rng(0).normal(size=12)
    encoder = made(12, lambda present: present @ weights + 3 - weights.sum())
    maps, untold = encoder.judged(effects=weights, against=-weights, size=np.abs(weights), flat=np.ones(12))
    assert untold is None
    assert maps["effects"].readable
    assert maps["effects"].agreement.spearman == pytest.approx(1)
    assert not maps["against"].readable  # what speaks against the answer explains it no better than chance
    assert not maps["flat"].readable


@pytest.mark.parametrize(
    ("n", "answer", "reason"),
    [
        (4, lambda present: present @ np.arange(4.0), Undecidable.TOO_FEW),
        (8, lambda present: 2.0 + 0 * present.sum(), Undecidable.UNMOVED),
        (8, lambda present: 2.0 + 1e-3 * (present @ np.arange(8.0) % 3), Undecidable.UNMOVED),
        # the first two stand in for each other: alone, neither matters, and the decoys seem to
        (
            8,
            lambda present: 3.0 * present[:2].any() + present[2:] @ np.linspace(0.2, 0.3, 6),
            Undecidable.NO_SOONER,
        ),
    ],
    ids=[
        "too few words",
        "one that ignores its input",
        "next to nothing",
        "words that stand in for each other",
    ],
)
def test_of_other_encoders_nothing_can_be_told(made, n, answer, reason):
    encoder = made(n, answer)
    maps, untold = encoder.judged(first=np.arange(float(n)), noise=np.random.default_rng(1).random((3, n)))
    assert untold is reason
    assert not any(of_maps.readable.any() for of_maps in maps.values())


@pytest.mark.slow
def test_noise_passes_on_at_most_one_input_in_twenty(made):
    n_judged = n_passed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=20)
        encoder = made(20, lambda present, weights=weights: present @ weights + 3 - weights.sum())
        maps, untold = encoder.judged(noise=rng.random((20, 20)))
        if untold is None:
            n_judged += 20
            n_passed += int(maps["noise"].readable.sum())
    assert n_judged > 1_000
    assert n_passed / n_judged <= 0.05


# Many maps at once


@pytest.mark.rest_is_slow
@encoders
def test_many_maps_are_judged_as_each_alone(loaded, given_input):
    record = capture(loaded, given_input)
    positions = list(removable_positions(record))
    effect = log_odds_falls(record, knock_out(loaded, given_input, answer="logits"))
    best = np.zeros(len(record))
    best[positions] = effect
    heads = [[head_scores(record, layer, head) for head in range(2)] for layer in range(2)]
    maps = {"attention": np.array(heads), "effects": best, "nothing": np.zeros(len(record))}
    judged, untold = faithfulness(loaded, given_input, maps)
    assert judged["attention"].readable.shape == (2, 2)
    assert math.isnan(judged["nothing"].agreement.spearman)
    assert not judged["nothing"].readable
    random = deletion(loaded, given_input, random_orders(positions))
    (perfect,) = deletion(loaded, given_input, [sort_by_score(best, positions)])
    for name, scores in maps.items():
        for index in np.ndindex(scores.shape[:-1]):
            alone = agreement(scores[index][positions], effect)
            np.testing.assert_allclose(alone.spearman, judged[name].agreement.spearman[index])
            curve = deletion(loaded, given_input, [sort_by_score(scores[index], positions)])[0]
            of_one = verdict(alone, effect, curve, perfect, random)
            assert of_one.undecidable is untold
            assert bool(judged[name].readable[index]) == bool(of_one.readable)


# A masked word as the answer

MASKED_TEXT, WORD = "not [MASK] film a b", MaskedWord(2, 40)


def log_p(loaded, intervention=None) -> float:
    return log_p_of(loaded, MASKED_TEXT, WORD, intervention)


@pytest.fixture(scope="module")
def masked_loaded():
    return tiny.loaded(replace(tiny.TEXT, masked_token_output=True))


def test_the_score_of_a_position_is_its_weight_from_the_masked_token(masked_loaded):
    record = capture(masked_loaded, MASKED_TEXT)
    scores = map_scores(record.pattern[1, 0], record, read_at=WORD.position)
    np.testing.assert_array_equal(scores, record.pattern[1, 0, 2])


def test_the_curve_of_a_masked_word_is_what_a_plain_loop_finds(masked_loaded):
    order = (3, 1, 4, 5, 6)
    (curve,) = deletion(masked_loaded, MASKED_TEXT, [order], answer=WORD)
    before = log_p(masked_loaded)
    expected = [
        before - log_p(masked_loaded, without_keys(*order[:k])) if k else 0 for k in removal_counts(5)
    ]
    np.testing.assert_allclose(curve, expected, **CLOSE)
    assert np.ptp(curve) > 1e-3


def test_other_attention_changes_log_p_of_a_masked_word(masked_loaded):
    result = other_attention(masked_loaded, MASKED_TEXT, 2, WORD)
    before = log_p(masked_loaded)
    uniform = log_p(masked_loaded, at_temperature(math.inf)) - before
    assert result.uniform == pytest.approx(uniform, abs=1e-5)
    permuted = [log_p(masked_loaded, permuted_attention(seed, 2)) - before for seed in range(2)]
    np.testing.assert_allclose(result.permuted, permuted, atol=1e-5)
