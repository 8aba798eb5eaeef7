from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.measures.heads import head_distance
from model.measures.matching import distance_matrix, matching


def patterns(n_layers, n_heads, n=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n), size=(n_layers, n_heads, n))


def test_the_matrix_numbers_heads_layer_by_layer():
    first, second = patterns(3, 2), patterns(2, 5, seed=1)
    found = distance_matrix(first, second)
    assert found.shape == (6, 10)
    assert found[2 * 2 + 1, 1 * 5 + 3] == head_distance(first[2, 1], second[1, 3:4])


def test_shuffled_heads_find_themselves_again():
    first = patterns(3, 4)
    order = np.random.default_rng(2).permutation(12)
    second = first.reshape(12, 4, 4)[order].reshape(first.shape)
    partners = matching(distance_matrix(first, second))
    assert order[partners].tolist() == list(range(12))


def test_a_matching_by_hand():
    # Greedily the first would take the first, and leave the second the worst: 1 + 9 against 2 + 3.
    assert matching(np.array([[1.0, 2.0], [3.0, 9.0]])).tolist() == [1, 0]


def test_what_fits_worst_stays_alone():
    tall = np.array([[5.0, 9.0], [1.0, 9.0], [9.0, 2.0]])
    assert matching(tall).tolist() == [-1, 0, 1]
    assert matching(tall.T).tolist() == [1, 2]


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5))
def test_no_permutation_does_better(seed, n_ones, n_others):
    distances = np.random.default_rng(seed).random((n_ones, n_others))
    partners = matching(distances)
    paired = [(one, other) for one, other in enumerate(partners) if other >= 0]
    assert len({other for _, other in paired}) == len(paired) == min(n_ones, n_others)
    short, long = sorted((distances, distances.T), key=len)[0], max(distances.shape)
    least = min(
        sum(short[one, other] for one, other in enumerate(order))
        for order in permutations(range(long), len(short))
    )
    assert sum(distances[pair] for pair in paired) == pytest.approx(least)
