import numpy as np

from model.measures.many_tests import holm


def test_holm_s_correction_by_hand():
    """The smallest of four by 4, the next by 3, …; never below the one before, and 1 at most."""
    p_values = np.array([0.04, 0.01, 0.9, 0.02])
    np.testing.assert_allclose(holm(p_values), [0.08, 0.04, 0.9, 0.06])
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
    np.testing.assert_allclose(holm(np.array([0.5, 0.6])), [1, 1])
    assert holm(np.array([])).shape == (0,)
