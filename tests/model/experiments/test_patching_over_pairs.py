from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import distance
from scipy.stats import ttest_1samp

from model.capture import capture
from model.experiments.masked_word import masked_word
from model.experiments.patching import patch_feed_forwards, patch_heads
from model.experiments.patching_over_pairs import (
    LEAST_DISTANCE_OF_MEAN,
    LEAST_NATS_OF_MEAN,
    is_too_small,
    mean_effects,
    patch_pairs,
    patch_pairs_in_all_parts,
    shares_of_the_way,
)
from tests.model import tiny
from tests.model.huggingface.folders import encoder
from tests.model.tiny import TEXT

PAIRS = [("not great film a b", "great great film b b"), ("a film", "not a film"), ("great b", "great c")]


def decided(config=TEXT, factor: float = 400.0):
    """A tiny encoder whose answers are far apart: its logits are multiplied by `factor`."""
    loaded = tiny.loaded(config)
    with torch.no_grad():
        for parameter in loaded.model.classifier.parameters():
            parameter.mul_(factor)
    return loaded


PRE_LN, POST_LN = decided(), decided(replace(TEXT, norm_placement="post", final_norm=False))


def log_odds_of(answer: np.ndarray, predicted: int) -> float:
    """Of two classes: the difference of the logits."""
    return float(answer[predicted]) - float(answer[1 - predicted])


def effects_one_by_one(loaded, part: str) -> tuple[np.ndarray, np.ndarray]:
    """The changes for each pair, and what share each is of the way to the answer of the other input."""
    changes, shares = [], []
    for first, second in PAIRS:
        clean, other = (capture(loaded, text).logits for text in (first, second))
        predicted = int(clean.argmax())
        if part == "feed-forward":
            answers = patch_feed_forwards(loaded, first, second, "logits")[:, None]
        else:
            answers = patch_heads(loaded, first, second, "logits", part=part)
        before = log_odds_of(clean, predicted)
        change = np.array([[log_odds_of(one, predicted) - before for one in layer] for layer in answers])
        changes.append(change)
        shares.append(change / (log_odds_of(other, predicted) - before))
    return np.array(changes), np.array(shares)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("part", ["z", "q", "k", "v", "feed-forward"])
@pytest.mark.parametrize("loaded", [PRE_LN, POST_LN], ids=["pre-LN", "post-LN"])
def test_means_and_spreads_are_those_of_a_plain_loop(loaded, part):
    close = {"rtol": 1e-3, "atol": 1e-4}
    for normalised, expected in enumerate(effects_one_by_one(loaded, part)):
        result = patch_pairs(loaded, PAIRS, part, normalised=bool(normalised))
        np.testing.assert_allclose(result.mean, expected.mean(axis=0), **close)
        np.testing.assert_allclose(result.sd, expected.std(axis=0, ddof=1), **close)
        assert (result.n, result.n_equal) == (3, 0)


def test_by_hand():
    """Of 1, 2 and 3: mean 2, deviation 1, and with t = 4.303 of two degrees of freedom ± 4.303 / √3 = 2.484."""
    result = mean_effects([np.full((1, 1), number) for number in (1.0, 2.0, 3.0)])
    assert (result.mean, result.sd) == (2, 1)
    assert result.low[0, 0] == pytest.approx(2 - 2.484, abs=1e-3)
    assert result.high[0, 0] == pytest.approx(2 + 2.484, abs=1e-3)
    assert not result.is_shown.any()


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=9).filter(lambda numbers: np.std(numbers) > 1e-3))
def test_one_part_has_an_effect_where_a_t_test_rejects_0(numbers):
    result = mean_effects([np.full((1, 1), number) for number in numbers])
    p = ttest_1samp(numbers, 0).pvalue
    if abs(p - 0.05) > 1e-6:
        assert result.is_shown[0, 0] == (p < 0.05)


def test_of_one_pair_there_is_no_spread():
    result = mean_effects([np.ones((2, 2))])
    assert result.n == 1
    assert np.isnan(result.sd).all()
    assert np.isnan(result.high).all()
    assert not result.is_shown.any()


def test_without_pairs_there_is_no_mean(text_loaded):
    with pytest.raises(ValueError, match="there is no pair to average over"):
        patch_pairs(text_loaded, [])


def test_pairs_of_equal_answers_are_left_out_of_shares_alone():
    text_loaded = PRE_LN
    pairs = [*PAIRS, ("a film", "a film")]
    shares = patch_pairs(text_loaded, pairs, normalised=True)
    assert (shares.n, shares.n_equal) == (3, 1)
    np.testing.assert_array_equal(shares.mean, patch_pairs(text_loaded, PAIRS, normalised=True).mean)
    changes = patch_pairs(text_loaded, pairs)
    assert (changes.n, changes.n_equal) == (4, 0)
    with pytest.raises(ValueError, match="too close to divide by their difference in the only pair"):
        patch_pairs(text_loaded, pairs[-1:], normalised=True)


@pytest.mark.slow
def test_without_classes_it_is_the_distance_of_the_pooled_state_and_is_never_shown(tmp_path):
    """Also of a text patched by itself, whose distances are rounding."""
    loaded = encoder(tmp_path, "BertModel")
    for pairs in ([*PAIRS], [(first, first) for first, _ in PAIRS]):
        result = patch_pairs(loaded, pairs, "v")
        distances = [
            [distance.cosine(capture(loaded, first).pooled, head) for head in layer]
            for first, second in pairs
            for layer in patch_heads(loaded, first, second, part="v").astype(float)
        ]
        expected = np.reshape(distances, (len(pairs), *result.mean.shape)).mean(axis=0)
        np.testing.assert_allclose(result.mean, expected, rtol=1e-3, atol=1e-6)
        assert np.isnan(result.p).all()
        assert not result.is_shown.any()


def test_without_classes_a_share_is_how_much_nearer_the_pooled_state_comes():
    """By hand, from (1, 0) to (0, 1): halfway round it is cos 45° of 1, and a turn the other way is below 0."""
    config = replace(TEXT, class_names=())
    turned = np.sqrt(0.5) * np.array([[1.0, 1.0], [1.0, -1.0]])
    answers = np.array([[1.0, 0.0], [0.0, 2.0], *turned])
    shares = shares_of_the_way(config, np.array([1.0, 0.0]), np.array([0.0, 1.0]), answers)
    np.testing.assert_allclose(shares, [0, 1, np.sqrt(0.5), -np.sqrt(0.5)], atol=1e-12)


def test_shares_of_pooled_states_fall_where_the_similarity_falls(tmp_path):
    loaded = encoder(tmp_path, "BertModel")
    first, second = PAIRS[0]
    clean, other = (capture(loaded, text).pooled for text in (first, second))
    patched = patch_heads(loaded, first, second)
    shares = shares_of_the_way(loaded.config, clean, other, patched)

    def similarity(state: np.ndarray) -> float:
        return 1 - distance.cosine(state.astype(float), other.astype(float))

    gained = np.array([[similarity(head) for head in layer] for layer in patched]) - similarity(clean)
    np.testing.assert_allclose(shares, gained / (1 - similarity(clean)), atol=1e-6)
    assert (np.sign(shares) == np.sign(gained)).all()


def test_a_pair_that_is_given_again_counts_once():
    """Also in capitals, which the encoder does not read: all pairs alike are one, and one pair shows nothing."""
    once, again = (
        patch_pairs(PRE_LN, PAIRS),
        patch_pairs(PRE_LN, [*PAIRS, PAIRS[1], ("A Film", "Not a FILM")]),
    )
    assert (again.n, again.n_repeated) == (3, 2)
    np.testing.assert_array_equal(again.mean, once.mean)
    np.testing.assert_array_equal(again.is_shown, once.is_shown)
    alike = patch_pairs(PRE_LN, PAIRS[:1] * 3)
    assert (alike.n, alike.n_repeated) == (1, 2)
    assert not alike.is_shown.any()


def test_what_does_not_vary_is_not_tested():
    """The first part has the same effect in each pair, the second but for rounding; the third varies a little."""
    effects = [np.array([[2.0, 0.5 + 1e-7 * pair, 1.0 + 1e-3 * pair]]) for pair in range(4)]
    result = mean_effects(effects)
    assert np.isnan(result.p).tolist() == [[True, True, False]]
    assert result.is_shown.tolist() == [[False, False, True]]
    values = [effect[0, 2] for effect in effects]
    assert result.p[0, 2] == pytest.approx(ttest_1samp(values, 0).pvalue)  # of one test, so not corrected


def test_p_is_corrected_for_the_parts_that_are_tested():
    """By Holm: the smallest of five p-values counts five times, and the part without variance does not count."""
    effects = np.random.default_rng(0).normal(0.5, 1, (9, 2, 3))
    effects[:, 0, 0] = 0
    p = [ttest_1samp(effects[:, *np.unravel_index(part, (2, 3))], 0).pvalue for part in range(1, 6)]
    assert np.nanmin(mean_effects(list(effects)).p) == pytest.approx(5 * min(p))


def test_the_mean_of_shares_leaves_out_pairs_that_nearly_agree():
    """What differs by less than 1 nat would outweigh all others."""
    nearly = decided(factor=0.5)
    for pair in PAIRS:
        clean, other = (capture(nearly, text).logits for text in pair)
        assert abs(log_odds_of(other, 0) - log_odds_of(clean, 0)) < LEAST_NATS_OF_MEAN
    with pytest.raises(ValueError, match="too close to divide by their difference in all 3 pairs"):
        patch_pairs(nearly, PAIRS, normalised=True)
    assert is_too_small(replace(TEXT, class_names=()), LEAST_DISTANCE_OF_MEAN / 2, of_mean=True)


def test_a_masked_word_is_that_of_each_first_text(tmp_path):
    loaded = encoder(tmp_path, "BertForMaskedLM")
    pairs = [("a [MASK] film", "not [MASK] b"), ("great [MASK]", "not [MASK]")]
    result = patch_pairs(loaded, pairs, "k", answer_of=lambda text: masked_word(loaded, text))
    expected = []
    for first, second in pairs:
        word = masked_word(loaded, first)
        logs = patch_heads(loaded, first, second, word, part="k")[..., 0]
        clean = patch_heads(loaded, first, first, word)[0, 0, 0]  # patched by itself: unchanged
        expected.append(logs - clean)
    np.testing.assert_allclose(result.mean, np.mean(expected, axis=0), rtol=1e-3, atol=1e-4)
    all_parts = patch_pairs_in_all_parts(loaded, pairs, "k", "")
    np.testing.assert_allclose(all_parts.mean[:, :-1], result.mean, rtol=1e-3, atol=1e-4)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("normalised", [False, True])
def test_all_parts_are_those_of_the_heads_and_then_the_feed_forward(text_loaded, normalised):
    result = patch_pairs_in_all_parts(text_loaded, PAIRS, "q", normalised=normalised)
    heads, feed_forward = (
        patch_pairs(text_loaded, PAIRS, part, normalised=normalised) for part in ("q", "feed-forward")
    )
    expected = np.concatenate((heads.mean, feed_forward.mean), axis=1)
    np.testing.assert_allclose(result.mean, expected, rtol=1e-3, atol=1e-4)
    assert (result.is_tested == ~np.isnan(result.p)).all()


def test_a_pair_that_cannot_be_read_is_named(tmp_path):
    loaded = encoder(tmp_path, "BertForMaskedLM")
    pairs = [("a [MASK] film", "not [MASK] b"), ("great film", "not [MASK]")]
    with pytest.raises(ValueError, match=r"pair 2: the text has no \[MASK\]"):
        patch_pairs(loaded, pairs, answer_of=lambda text: masked_word(loaded, text))


def test_steps_lead_to_1(text_loaded):
    shares = []
    patch_pairs(text_loaded, PAIRS[:2], progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1]


def test_too_small_depends_on_the_unit():
    assert is_too_small(TEXT, 0.9, of_mean=True)
    assert not is_too_small(TEXT, -1.1, of_mean=True)
    assert is_too_small(TEXT, 0.005)
    assert not is_too_small(TEXT, -0.5)
    assert is_too_small(TEXT, float("nan"))
    assert not is_too_small(replace(TEXT, class_names=()), 0.005)
