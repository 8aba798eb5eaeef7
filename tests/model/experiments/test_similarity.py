import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.experiments.similarity import cka_by_chance, cosine_by_stage, digit_states, linear_cka
from tests.model import tiny
from tests.tolerance import encoder_rounding, rounding


def gram_form(x, y):
    """CKA as HSIC(K, L) / sqrt(HSIC(K, K) HSIC(L, L)), tr(K H L H) over Gram matrices (Kornblith et al., 3.1)."""
    n = len(x)
    centring = np.eye(n) - np.ones((n, n)) / n

    def hsic(k, other):
        return np.trace(k @ centring @ other @ centring)

    k, other = x @ x.T, y @ y.T
    return hsic(k, other) / math.sqrt(hsic(k, k) * hsic(other, other))


@given(st.integers(0, 2**32), st.integers(3, 12), st.integers(1, 6), st.integers(1, 6))
def test_cka_agrees_with_its_gram_form(seed, n, width, other_width):
    random = np.random.default_rng(seed)
    first, second = random.normal(size=(2, n, width)) + 3, random.normal(size=(3, n, other_width))
    result = linear_cka(first, second)
    expected = [[gram_form(x, y) for y in second] for x in first]
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert ((result >= 0) & (result <= 1 + 1e-9)).all()


def test_cka_by_hand():
    # One feature each: the squared correlation of (1, 2, 3) and (1, 2, 1), which is 0; and of (1, 2, 3), (1, 3, 2).
    x = np.array([[[1.0], [2.0], [3.0]]])
    assert linear_cka(x, np.array([[[1.0], [2.0], [1.0]]])) == pytest.approx(0)
    assert linear_cka(x, np.array([[[1.0], [3.0], [2.0]]])) == pytest.approx(0.25)


def test_cka_does_not_see_rotation_scale_or_shift():
    random = np.random.default_rng(0)
    x = random.normal(size=(1, 20, 5))
    rotation, _ = np.linalg.qr(random.normal(size=(5, 5)))
    assert linear_cka(x, 7 * x @ rotation + 2)[0, 0] == pytest.approx(1)


def test_cka_of_states_that_are_all_alike_is_not_a_number():
    random = np.random.default_rng(0).normal(size=(1, 9, 4)).astype(np.float32)
    alike = np.full((1, 9, 4), 0.1, np.float32)  # whose mean is not 0.1 in float32
    result = linear_cka(np.concatenate((alike, random)), random)
    assert np.isnan(result[0, 0])
    assert result[1, 0] == pytest.approx(1, rel=rounding(9 * 4))


def test_cosines_by_hand():
    residual = np.array([[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [0.0, -3.0]]])
    between = (math.sqrt(0.5) - 1) / 2
    np.testing.assert_allclose(cosine_by_stage(residual), [[1, between], [between, 1]])


@pytest.mark.parametrize("pooling", ["class", "mean"])
def test_the_states_of_digits_are_pooled_one_by_one(pooling):
    positions = tiny.DIGIT.n_patches + (pooling == "class")
    loaded = tiny.loaded(replace(tiny.DIGIT, pooling=pooling, n_positions=positions))
    images = np.random.default_rng(0).integers(0, 256, (3, 8, 8), dtype=np.uint8)
    result = digit_states(loaded, images)
    for number, image in enumerate(images):
        residual = capture(loaded, image).residual
        expected = residual[:, 0] if pooling == "class" else residual.mean(axis=1)
        apart = encoder_rounding(loaded.config, np.abs(residual).max())
        np.testing.assert_allclose(result[:, number], expected, atol=apart)


def test_the_class_token_is_the_same_for_every_digit_before_the_first_layer():
    loaded = tiny.loaded(tiny.DIGIT)
    images = np.random.default_rng(0).integers(0, 256, (5, 8, 8), dtype=np.uint8)
    states = digit_states(loaded, images)
    assert np.isnan(linear_cka(states, states)[0]).all()
    assert np.isfinite(linear_cka(states, states)[1:, 1:]).all()


def test_by_chance_two_unrelated_sides_are_as_alike_as_they_are():
    first, second = np.random.default_rng(0).normal(size=(2, 2, 40, 3))
    shuffled = second[:, np.random.default_rng(0).permutation(40)]
    pairs = [
        np.corrcoef(
            (x - x.mean(0)).dot((x - x.mean(0)).T).ravel(), (y - y.mean(0)).dot((y - y.mean(0)).T).ravel()
        )
        for x in first
        for y in shuffled
    ]
    # Of centred Gram matrices the mean is 0, so that CKA is their correlation.
    assert cka_by_chance(first, second) == pytest.approx(max(pair[0, 1] for pair in pairs))


def test_by_chance_a_side_is_no_longer_its_own_likeness():
    states = np.random.default_rng(0).normal(size=(1, 200, 2))
    assert linear_cka(states, states)[0, 0] == pytest.approx(1)
    assert cka_by_chance(states, states) < 0.1
