"""How certain results are: intervals of shares, and p-values of one test or of many."""

import numpy as np
from jaxtyping import Float, Int
from scipy.special import bdtrc

Z_95 = 1.959963984540054  # quantile of the normal distribution for a two-sided 95 % interval


def wilson_interval(
    hits: Int[np.ndarray, "*axes"], n: Int[np.ndarray, "*axes"]
) -> tuple[Float[np.ndarray, "*axes"], Float[np.ndarray, "*axes"]]:
    """Ends of the 95 % interval of a share `hits` / `n`, from 0 to 1 (Wilson 1927); NaN where n is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = hits / n
        centre = (share + Z_95**2 / (2 * n)) / (1 + Z_95**2 / n)
        half = Z_95 / (1 + Z_95**2 / n) * np.sqrt(share * (1 - share) / n + Z_95**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def paired_test(
    only_first: Int[np.ndarray, "*axes"], only_second: Int[np.ndarray, "*axes"]
) -> Float[np.ndarray, "*axes"]:
    """One-sided p-values of the exact test of McNemar (1947) that a first predictor is right on more cases than a second.

    `only_first` and `only_second` count the cases on which only one of the two is right. p = P(X ≥ `only_first`) for X ~
    Binomial(`only_first` + `only_second`, 1/2).
    """
    return bdtrc(only_first - 1, only_first + only_second, 0.5)


def holm(p_values: Float[np.ndarray, " test"]) -> Float[np.ndarray, " test"]:
    """The p-values with Holm's correction (1979): if those below 0.05 are called significant, the probability of any false positive
    among all tests is at most 0.05.
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1)
    return corrected
