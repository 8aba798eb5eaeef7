from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.measures.head_matching import (
    Pairing,
    distance_matrix,
    match_heads,
    pair_by_distance,
    pair_by_index,
)
from model.measures.head_measures import head_distance


def patterns(n_layers, n_heads, n=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n), size=(n_layers, n_heads, n))


def test_the_matrix_numbers_heads_layer_by_layer():
    first, second = patterns(3, 2), patterns(2, 5, seed=1)
    result = distance_matrix(first, second)
    assert result.shape == (6, 10)
    assert result[2 * 2 + 1, 1 * 5 + 3] == head_distance(first[2, 1], second[1, 3:4])


def test_shuffled_heads_find_themselves_again():
    first = patterns(3, 4)
    order = np.random.default_rng(2).permutation(12)
    second = first.reshape(12, 4, 4)[order].reshape(first.shape)
    partners = match_heads(distance_matrix(first, second))
    assert order[partners].tolist() == list(range(12))


def test_a_matching_by_hand():
    # Greedily the first would take the first, and leave the second the worst: 1 + 9 against 2 + 3.
    assert match_heads(np.array([[1.0, 2.0], [3.0, 9.0]])).tolist() == [1, 0]


def test_what_fits_worst_stays_alone():
    tall = np.array([[5.0, 9.0], [1.0, 9.0], [9.0, 2.0]])
    assert match_heads(tall).tolist() == [-1, 0, 1]
    assert match_heads(tall.T).tolist() == [1, 2]


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 5))
def test_no_permutation_does_better(seed, n_ones, n_others):
    distances = np.random.default_rng(seed).random((n_ones, n_others))
    partners = match_heads(distances)
    paired = [(one, other) for one, other in enumerate(partners) if other >= 0]
    assert len({other for _, other in paired}) == len(paired) == min(n_ones, n_others)
    short, long = sorted((distances, distances.T), key=len)[0], max(distances.shape)
    least = min(
        sum(short[one, other] for one, other in enumerate(order))
        for order in permutations(range(long), len(short))
    )
    assert sum(distances[pair] for pair in paired) == pytest.approx(least)


# Pairs of two layers of two heads with one layer of three: L0 H1 has no partner, nor has L0 H0 of the second

MATRIX = np.array([[0.5, 0.1, 0.6], [0.6, 0.6, 0.6], [0.6, 0.6, 0.2], [0.6, 0.6, 0.6]])
PAIRING = pair_by_distance((2, 2), (1, 3), MATRIX)
NONE = np.nan


def test_partners_by_hand():
    result = Pairing(shapes=((2, 2), (1, 3)), partners=np.array([1, -1, 2, -1]), matched=True, matrix=MATRIX)
    assert result.partner((0, 0)) == (0, 1)
    assert result.partner((0, 1)) is None
    assert result.partner_in_first((0, 2)) == (1, 0)
    assert result.partner_in_first((0, 0)) is None
    assert result.unpaired == ([(0, 1), (1, 1)], [(0, 0)])
    assert result.n_pairs == 2
    np.testing.assert_array_equal(result.distances, [[0.1, NONE], [0.2, NONE]])
    assert result.furthest_head == (1, 0)
    assert (result.n_further_pairs((0, 0)), result.n_further_pairs((1, 0))) == (1, 0)
    change = result.change(np.array([1.0, 2.0, 4.0, 8.0]), np.array([10.0, 20.0, 30.0]))
    np.testing.assert_array_equal(change, [[19, NONE], [26, NONE]])


def test_by_distance_is_the_matching_of_the_matrix():
    assert PAIRING.matched
    assert PAIRING.partners.tolist() == match_heads(MATRIX).tolist()
    assert PAIRING.n_pairs == 3


def test_by_number_pairs_what_both_have():
    result = pair_by_index((2, 2), (1, 3))
    assert not result.matched
    assert [result.partner(head) for head in np.ndindex(2, 2)] == [(0, 0), (0, 1), None, None]
    assert result.n_same_index == result.n_pairs == 2
    assert result.unpaired == ([(1, 0), (1, 1)], [(0, 2)])


@given(st.integers(0, 2**32), *(st.tuples(st.integers(1, 3), st.integers(1, 3)) for _ in range(2)))
def test_a_pairing_says_the_same_head_by_head(seed, first, second):
    matrix = np.random.default_rng(seed).random((first[0] * first[1], second[0] * second[1]))
    ones, others = list(np.ndindex(first)), list(np.ndindex(second))
    for result in (pair_by_distance(first, second, matrix), pair_by_index(first, second, matrix)):
        pairs = {one: result.partner(one) for one in ones if result.partner(one) is not None}
        distances = {one: matrix[ones.index(one), others.index(other)] for one, other in pairs.items()}
        assert all(result.partner_in_first(other) == one for one, other in pairs.items())
        assert result.n_same_index == sum(one == other for one, other in pairs.items())
        assert result.unpaired == (
            [one for one in ones if one not in pairs],
            [other for other in others if other not in pairs.values()],
        )
        assert result.furthest_head == max(distances, key=distances.get)
        for one, distance in distances.items():
            assert result.distances[one] == distance
            assert result.n_further_pairs(one) == sum(other > distance for other in distances.values())
