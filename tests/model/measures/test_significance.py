import numpy as np
import pytest
from scipy.stats import binomtest

from model.measures.significance import holm, paired_test, wilson_interval


def test_wilson_s_interval():
    hits, n = np.array([0, 3, 15, 20]), np.array([20, 20, 30, 20])
    low, high = wilson_interval(hits, n)
    for index, (k, total) in enumerate(zip(hits.tolist(), n.tolist(), strict=True)):
        interval = binomtest(k, total).proportion_ci(0.95, "wilson")
        assert (low[index], high[index]) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_of_no_case_there_is_no_interval():
    assert np.isnan(wilson_interval(np.array([0]), np.array([0]))).all()


def test_the_paired_test_counts_only_links_that_one_of_the_two_hits():
    """P(X ≥ 4) of 5 fair coins is (5 + 1) / 32; where none differ, nothing is shown."""
    only_first, only_second = np.array([4, 0, 0, 10]), np.array([1, 0, 3, 0])
    np.testing.assert_allclose(paired_test(only_first, only_second), [6 / 32, 1, 1, 2.0**-10], rtol=1e-12)


def test_holm_s_correction_by_hand():
    """The smallest of four by 4, the next by 3, …; never below the one before, and 1 at most."""
    p_values = np.array([0.04, 0.01, 0.9, 0.02])
    np.testing.assert_allclose(holm(p_values), [0.08, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
    np.testing.assert_allclose(holm(np.array([0.5, 0.6])), [1, 1])
    assert holm(np.array([])).shape == (0,)
