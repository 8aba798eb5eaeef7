from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from scipy.spatial import distance

from model.capture import capture
from model.measures.changes import (
    ClassUnderInterventions,
    class_changes,
    class_under_interventions,
    cosine_distance,
    largest_change,
    largest_indices,
    log_odds,
    total_variation,
    value_range,
    weight_lost_to_mask,
    weight_on_masked,
)
from tests.model import tiny

ANSWERS = np.array([[0.2, 0.8], [0.75, 0.25], [0.4, 0.6]])


def test_the_largest_change_either_way():
    assert largest_change(np.array([[0.5, 0.2]]), np.array([[0.25, 0.3]])) == 0.25
    assert largest_change(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.75, 0.25]])) == 0.25
    assert largest_change(np.zeros(0), np.zeros(0)) == 0


def test_one_class_under_many_interventions_by_hand():
    assert class_under_interventions(ANSWERS, 1) == ClassUnderInterventions(kept=2, lowest=0.25, highest=0.8)
    assert class_under_interventions(ANSWERS, 0) == ClassUnderInterventions(kept=1, lowest=0.2, highest=0.75)


def test_one_class_is_what_a_loop_finds():
    answers = np.random.default_rng(0).dirichlet(np.ones(4), 30)
    for followed in range(4):
        column = sorted(row[followed] for row in answers.tolist())
        kept = sum(row[followed] == max(row) for row in answers.tolist())
        assert class_under_interventions(answers, followed) == ClassUnderInterventions(
            kept, column[0], column[-1]
        )


def test_changes_of_a_class():
    record = replace(
        capture(tiny.loaded(tiny.TEXT), "film"), logits=np.log(np.array([0.25, 0.75], np.float32))
    )
    # Odds of 3 become odds of 4, of 1 / 3 and of 3 / 2.
    expected = np.log([4 / 3, 1 / 9, 1 / 2])
    np.testing.assert_allclose(class_changes(record, np.log(ANSWERS), 1), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "indices"),
    [
        ([0.5, -2.0, 1.0], [1]),
        ([0.5, -0.5, 0.5 + 1e-7, 0.4], [0, 1, 2]),  # equal but for rounding
        ([0.0, 0.0], []),
        ([1e-7, -3e-6], []),  # rounding is no change
        ([], []),
    ],
)
def test_the_largest_changes_are_all_that_are_equal_and_none_within_rounding(changes, indices):
    assert largest_indices(np.array(changes)).tolist() == indices


def test_log_odds_are_those_of_scipy():
    answers = np.random.default_rng(2).dirichlet(np.ones(4), (3, 5))
    for followed in range(4):
        np.testing.assert_allclose(log_odds(np.log(answers), followed), special.logit(answers[..., followed]))


@pytest.mark.parametrize("size", [40.0, 203.18, 5000.0])
def test_log_odds_keep_what_a_probability_near_one_has_lost(size):
    logits = np.array([size, 0.0, 1.0], np.float32)
    assert special.softmax(logits)[0] == 1
    assert log_odds(logits, 0) == pytest.approx(size - np.log(1 + np.e), rel=1e-6)
    assert log_odds(logits, 1) == pytest.approx(-size, rel=1e-6)


def test_what_is_lost_to_masked_keys_by_hand():
    result = weight_lost_to_mask(np.array([0.125, 0.5, 0.125, 0.25]), np.array([False, True, False, False]))
    assert result == (0.5, (3, 0, 2), (0.25, 0.125, 0.125))
    assert weight_lost_to_mask(np.ones(2), np.ones(2, bool)) == (0, (), ())


def test_what_is_lost_is_what_a_loop_finds():
    random = np.random.default_rng(1)
    before, allowed = random.dirichlet(np.ones(9)), random.random(9) < 0.4
    expected = sorted(((weight, key) for key, weight in enumerate(before) if not allowed[key]), reverse=True)
    result = weight_lost_to_mask(before, allowed)
    assert list(zip(result.weights, result.keys, strict=True)) == expected
    assert result.total == pytest.approx(sum(weight for weight, _ in expected))


def test_the_weight_on_masked_keys():
    pattern = np.array([[0.5, 0.5], [0.125, 0.875]])
    assert weight_on_masked(pattern, np.array([[True, True], [False, True]])) == 0.125
    assert weight_on_masked(pattern, np.ones((2, 2), bool)) is None
    assert np.isnan(weight_on_masked(np.full((1, 1), np.nan), np.zeros((1, 1), bool)))


def test_total_variation_by_hand():
    assert total_variation(np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])) == pytest.approx(0.4)
    assert total_variation(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1


def test_cosine_distance_by_hand():
    vectors = np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [1.0, 1.0]])
    result = cosine_distance(np.array([4.0, 0.0]), vectors)
    np.testing.assert_allclose(result, [0, 1, 2, 1 - np.sqrt(0.5)], rtol=1e-12)
    assert np.isnan(cosine_distance(np.zeros(2), vectors)).all()


def test_many_at_once_are_the_single_ones():
    random = np.random.default_rng(0)
    one, others = random.dirichlet(np.ones(5)), random.dirichlet(np.ones(5), (3, 4))
    for measure, reference in (
        (cosine_distance, distance.cosine),
        (total_variation, lambda a, b: distance.cityblock(a, b) / 2),
    ):
        expected = [[reference(one, other) for other in row] for row in others]
        np.testing.assert_allclose(measure(one, others), expected, rtol=1e-12)


def test_the_extremes_of_many_arrays_by_hand():
    assert value_range(np.array([[1.0, -3.0]]), np.array([2.5])) == (-3.0, 2.5)
    assert value_range(np.array([1.0]), np.zeros((2, 0))) == (1.0, 1.0)
    assert value_range() == (0.0, 0.0)
    assert np.isnan(value_range(np.array([1.0, np.nan]))).all()
