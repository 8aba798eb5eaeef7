"""Correction of p-values where many hypotheses are tested at once."""

import numpy as np
from jaxtyping import Float


def holm(p_values: Float[np.ndarray, " test"]) -> Float[np.ndarray, " test"]:
    """The p-values corrected for their number (Holm 1979), so that one below 0.05 is wrong in any of them with a probability of
    at most 0.05.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return corrected
