import numpy as np

from model.atlas.beyond_baseline import holm, paired_test


def test_the_paired_test_counts_only_links_that_one_of_the_two_hits():
    """P(X ≥ 4) of 5 fair coins is (5 + 1) / 32; where none differ, nothing is shown."""
    only_first, only_second = np.array([4, 0, 0, 10]), np.array([1, 0, 3, 0])
    np.testing.assert_allclose(paired_test(only_first, only_second), [6 / 32, 1, 1, 2.0**-10], rtol=1e-12)


def test_holm_s_correction_by_hand():
    """The smallest of four by 4, the next by 3, …; never below the one before, and 1 at most."""
    p_values = np.array([0.04, 0.01, 0.9, 0.02])
    np.testing.assert_allclose(holm(p_values), [0.08, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm(np.array([0.5, 0.6])), [1, 1])
    assert holm(np.array([])).shape == (0,)
