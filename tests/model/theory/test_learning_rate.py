from itertools import pairwise

import pytest

from model.theory.learning_rate import geometric_steps, learning_rate


def test_learning_rate_rises_then_falls_to_zero():
    rates = [learning_rate(step, 100, 2.0, 10) for step in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == pytest.approx(2.0)
    assert rates[10] == pytest.approx(2.0)
    assert rates[55] == pytest.approx(1.0)  # half way down the cosine
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert learning_rate(100, 100, 2.0, 10) == pytest.approx(0.0)


def test_learning_rate_that_does_not_fall_stays_at_its_peak():
    assert [learning_rate(step, 9, 2.0, 2, falls=False) for step in (0, 1, 2, 8)] == [1.0, 2.0, 2.0, 2.0]


def test_without_warmup_it_begins_at_its_peak():
    assert learning_rate(0, 9, 2.0, 0) == 2.0


def test_moments_are_spaced_geometrically_from_first_to_last_step():
    taken = geometric_steps(10_000, 28)
    assert taken[0] == 0
    assert taken[-1] == 9_999
    assert len(taken) >= 24
    gaps = [after - before for before, after in pairwise(taken)]
    assert gaps == sorted(gaps)


def test_moments_of_a_short_run_are_its_steps():
    assert geometric_steps(3, 28) == [0, 1, 2]
