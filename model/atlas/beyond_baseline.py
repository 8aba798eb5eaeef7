"""Whether a head follows a relation more often than a fixed offset does: a test."""

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
