"""Whether a head follows a relation more often than a fixed offset does: a test, and a correction for many tests."""

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import binom


def paired_test(
    only_first: Int[np.ndarray, "*axes"], only_second: Int[np.ndarray, "*axes"]
) -> Float[np.ndarray, "*axes"]:
    """One-sided p-values that the first of two ways hits no more of the same links than the second.

    The exact test of McNemar (1947): of the links that only one of the two hits, half would be the first's. P(X ≥
    `only_first`) for X ~ Binomial(`only_first` + `only_second`, 1/2).
    """
    return binom.sf(only_first - 1, only_first + only_second, 0.5)


def holm(p_values: Float[np.ndarray, " test"]) -> Float[np.ndarray, " test"]:
    """The p-values corrected for their number (Holm 1979), so that one below 0.05 is wrong in any of them with a probability of
    at most 0.05.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return corrected
