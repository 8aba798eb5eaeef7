import numpy as np

from model.atlas.beyond_baseline import paired_test


def test_the_paired_test_counts_only_links_that_one_of_the_two_hits():
    """P(X ≥ 4) of 5 fair coins is (5 + 1) / 32; where none differ, nothing is shown."""
    only_first, only_second = np.array([4, 0, 0, 10]), np.array([1, 0, 3, 0])
    np.testing.assert_allclose(paired_test(only_first, only_second), [6 / 32, 1, 1, 2.0**-10], rtol=1e-12)
