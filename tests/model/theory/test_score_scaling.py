import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.capture import capture
from model.theory.score_scaling import (
    EVEN_GRADIENT,
    N_KEYS,
    axis_limit,
    dot_products,
    gradient_norm,
    head_products,
    head_spreads,
    score_statistics,
    softmax,
    spread_by_width,
    variance,
)


@given(d_k=st.integers(1, 256), seed=st.integers(0, 2**32))
def test_the_variance_of_random_dot_products_is_d_k(d_k, seed):
    products = dot_products(d_k, seed=seed)
    assert abs(products.mean()) < 0.25 * math.sqrt(d_k)
    assert products.var() == pytest.approx(d_k, rel=0.3)


def test_dot_products_are_the_same_each_time_and_others_with_another_seed():
    np.testing.assert_array_equal(dot_products(3), dot_products(3))
    assert (dot_products(3) != dot_products(3, seed=1)).all()


def test_softmax_by_hand():
    result = softmax(np.array([[0.0, math.log(3), 5.0]]), np.array([[True, True, False]]))
    np.testing.assert_allclose(result, [[0.25, 0.75, 0]])


@pytest.mark.parametrize(
    ("row", "by_hand"),
    [
        ([0.5, 0.5], 0.5),
        ([0.25, 0.75], 2 * 0.25 * 0.75),  # a (1 - a) times [[1, -1], [-1, 1]], whose norm is 2
        ([0.0, 1.0, 0.0], 0),
        ([0.25] * 4, math.sqrt(3) / 4),
        ([1.0], 0),
    ],
)
def test_gradient_norm_by_hand(row, by_hand):
    assert gradient_norm(np.array([row]))[0] == pytest.approx(by_hand)


@given(n=st.integers(1, 20), size=st.sampled_from([0.0, 1.0, 10.0, 100.0]), seed=st.integers(0, 2**32))
def test_gradient_norm_is_that_of_the_jacobian_that_torch_finds(n, size, seed):
    scores = torch.tensor(np.random.default_rng(seed).normal(size=n) * size)
    jacobian = torch.func.jacrev(lambda row: row.softmax(dim=-1))(scores)
    result = gradient_norm(scores.softmax(dim=-1).numpy()[None])[0]
    assert result == pytest.approx(torch.linalg.matrix_norm(jacobian).item(), rel=1e-6, abs=1e-8)
    assert result <= 0.5 + 1e-12


def test_equal_weights_have_the_gradient_that_is_said():
    assert gradient_norm(np.full((1, N_KEYS), 1 / N_KEYS))[0] == pytest.approx(EVEN_GRADIENT)


@pytest.mark.parametrize(
    ("d_k", "power", "expected"), [(64, 0.5, 1), (256, 0.0, 256), (256, 1.0, 1 / 256), (1, 0.3, 1)]
)
def test_the_variance_that_is_expected_by_hand(d_k, power, expected):
    assert variance(d_k, power) == pytest.approx(expected)


def test_spread_by_hand():
    a = 1 / (1 + math.e)  # scores 0 and 1
    nats = -(a * math.log(a) + (1 - a) * math.log(1 - a))
    assert score_statistics(np.array([[0.0, 2.0]]), 0.5) == pytest.approx(
        {
            "mean": 0.5,
            "variance": 0.25,
            "entropy": nats / math.log(2),
            **dict.fromkeys(("gradient", "gradient_low", "gradient_high"), 2 * a * (1 - a)),
        }
    )


def test_spread_leaves_out_what_the_mask_forbids():
    products, mask = np.array([[1.0, 3.0, 99.0]]), np.array([[True, True, False]])
    result = score_statistics(products, 1.0, mask)
    assert (result["mean"], result["variance"]) == (2, 1)
    assert result["entropy"] == score_statistics(products[:, :2], 1.0)["entropy"]


def test_one_half_alone_keeps_the_variance():
    result = spread_by_width([1, 16, 256], [0.0, 0.5, 1.0])
    assert result[["d_k", "power"]].to_numpy().tolist() == [[d, p] for d in (1, 16, 256) for p in (0, 0.5, 1)]
    for row in result.itertuples():
        assert row.variance == pytest.approx(row.d_k ** (1 - 2 * row.power), rel=0.3)
    at_256 = result[result["d_k"] == 256].set_index("power")
    assert at_256["entropy"][0] < 0.2
    assert 0.8 < at_256["entropy"][0.5] < at_256["entropy"][1]
    assert at_256["gradient"][0] < at_256["gradient"][1] < at_256["gradient"][0.5]


def test_every_head_is_measured_on_its_own_scores(text_loaded):
    record = capture(text_loaded, "not great film")
    result = head_spreads(record.q, record.k, record.mask)
    assert result[["layer", "head"]].to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    for row in result.itertuples():
        scores = record.scores[row.layer, row.head].astype(float)
        d_k = record.config.d_k
        assert row.mean == pytest.approx((scores * math.sqrt(d_k)).mean(), rel=1e-5)
        assert row.variance == pytest.approx(scores.var() * d_k, rel=1e-5)
        assert row.entropy == pytest.approx(score_statistics(scores, 1.0)["entropy"], rel=1e-5)
        assert row.entropy_unscaled == pytest.approx(
            score_statistics(scores, math.sqrt(d_k))["entropy"], rel=1e-5
        )
        assert row.gradient_unscaled == pytest.approx(
            score_statistics(scores, math.sqrt(d_k))["gradient"], rel=1e-4
        )


def test_head_products_by_hand():
    q, k = np.array([[1, 2]], np.float32), np.array([[3, 4], [0, -1]], np.float32)
    assert head_products(q, k).tolist() == [[11, -2]]


def test_an_axis_reaches_beyond_its_distribution_by_hand():
    assert axis_limit(4.0) == 7
    assert axis_limit(4.0, np.array([-1.0, 3.0])) == pytest.approx(7.35)
    assert axis_limit(4.0, np.array([-10.0, 3.0])) == pytest.approx(10.5)
    assert axis_limit(4.0, np.zeros(0)) == pytest.approx(7.35)
