"""Layer normalisation and batch normalisation: one formula, averaged over different axes; and RMSNorm, without the mean.

Ba, Kiros & Hinton 2016, equation 4; Ioffe & Szegedy 2015, algorithm 1. Both use the population variance, divided
by n and not by n - 1. RMSNorm: Zhang & Sennrich 2019, equation 4.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

EPSILON = 1e-5  # as torch.nn.LayerNorm and torch.nn.BatchNorm1d have it
_AXIS = {"features": -1, "batch": 0}

Over = Literal["features", "batch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """Output (input - mean) / deviation of a normalisation, and the statistics, in which the averaged axis has length 1."""

    mean: Float[np.ndarray, "..."]
    variance: Float[np.ndarray, "..."]  # the mean of (input - mean)²
    deviation: Float[np.ndarray, "..."]  # sqrt(variance + epsilon)
    output: Float[np.ndarray, "batch feature"]

    @property
    def spread(self) -> Float[np.ndarray, "..."]:
        """Standard deviation sqrt(variance), without the epsilon."""
        return np.sqrt(self.variance)


def normalise(
    values: Float[np.ndarray, "batch feature"],
    over: Over,
    *,
    subtracts_mean: bool = True,
    epsilon: float = EPSILON,
) -> Normalised:
    """Layer normalisation (over "features") or batch normalisation (over "batch") of `values` by their own statistics.

    Unless it `subtracts_mean`, the mean counts as 0: over the features that is RMSNorm, whose variance is the mean square.
    Raises ValueError for empty `values`.
    """
    if values.size == 0:
        raise ValueError(f"nothing to average in values of shape {values.shape}")
    axis = _AXIS[over]
    mean = values.mean(axis=axis, keepdims=True) * subtracts_mean
    variance = np.square(values - mean).mean(axis=axis, keepdims=True)
    deviation = np.sqrt(variance + epsilon)
    return Normalised(mean=mean, variance=variance, deviation=deviation, output=(values - mean) / deviation)


def sample_deviation(vector: Float[np.ndarray, " feature"]) -> float:
    """Standard deviation with n - 1 in the denominator, of at least two numbers; neither normalisation uses it."""
    return float(vector.std(ddof=1))
