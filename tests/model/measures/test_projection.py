import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.measures.projection import pca, t_sne


def test_pca_by_hand():
    # a cross, wider along the second axis: variances 8 and 2 of 10
    cross = np.array([[0.0, 2, 5], [0, -2, 5], [1, 0, 5], [-1, 0, 5]])
    positions, explained = pca(cross)
    assert explained == pytest.approx((0.8, 0.2))
    np.testing.assert_allclose(np.abs(positions), [[2, 0], [2, 0], [0, 1], [0, 1]], atol=1e-12)


@given(st.integers(3, 12), st.integers(2, 9), st.integers(0, 99))
def test_pca_keeps_the_share_of_the_variance_that_it_states(n, width, seed):
    vectors = np.random.default_rng(seed).normal(size=(n, width))
    positions, explained = pca(vectors)
    np.testing.assert_allclose(positions.var(axis=0) / vectors.var(axis=0).sum(), explained, atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_pca_of_few_vectors(n):
    positions, explained = pca(np.eye(3)[:n])
    assert positions.shape == (n, 2)
    assert np.isfinite(positions).all()
    if n == 2:
        assert explained == pytest.approx((1, 0))
        assert abs(positions[0, 0] - positions[1, 0]) == pytest.approx(2**0.5)
    else:
        assert np.isnan(explained).all()


def test_vectors_that_are_all_the_same_have_no_variance():
    assert np.isnan(pca(np.ones((5, 3))).explained).all()
    assert t_sne(np.ones((5, 3)), perplexity=2, seed=0) is None


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_t_sne_of_few_vectors_is_none(n):
    assert t_sne(np.eye(4)[:n], perplexity=5, seed=0) is None


@pytest.mark.parametrize("n", [4, 7])
def test_the_perplexity_stays_below_the_number_of_vectors(n):
    positions, perplexity = t_sne(np.eye(8)[:n], perplexity=30, seed=0)
    assert perplexity == n - 1
    assert positions.shape == (n, 2)
    assert np.isfinite(positions).all()


def test_t_sne_keeps_groups_together_and_repeats_itself():
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.normal(centre, 0.1, size=(10, 5)) for centre in (0, 9)])
    first, second = (t_sne(vectors, perplexity=5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.places, second.places)
    near = np.linalg.norm(first.places[:, None] - first.places, axis=-1)
    assert near[:10, :10].max() < near[:10, 10:].min()


def test_a_pair_in_every_spot_still_gets_places():
    assert np.isfinite(t_sne(np.repeat(np.eye(3), 4, axis=0), perplexity=5, seed=0).places).all()


def test_numbers_get_places_as_vectors_do():
    positions = t_sne(np.array([[0.0], [0.1], [9.0], [9.1]]), perplexity=2, seed=0).places
    assert positions.shape == (4, 2)
    assert np.isfinite(positions).all()
