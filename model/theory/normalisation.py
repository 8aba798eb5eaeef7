"""Layer normalisation and batch normalisation: one formula, averaged over two different axes.

Ba, Kiros & Hinton 2016, equation 4; Ioffe & Szegedy 2015, algorithm 1. Both take the population variance,
sum of squares over n and not n - 1.
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
    """`output` = (input - mean) / deviation, and what it was made from; the averaged axis is kept, of length 1."""

    mean: Float[np.ndarray, "..."]
    variance: Float[np.ndarray, "..."]  # the mean of (input - mean)²
    deviation: Float[np.ndarray, "..."]  # sqrt(variance + epsilon)
    output: Float[np.ndarray, "batch feature"]

    @property
    def spread(self) -> Float[np.ndarray, "..."]:
        """sqrt(variance), without the epsilon."""
        return np.sqrt(self.variance)


def normalise(
    values: Float[np.ndarray, "batch feature"], over: Over, *, epsilon: float = EPSILON
) -> Normalised:
    """Layer normalisation averages each vector `over` its "features", batch normalisation each feature
    `over` the "batch", with the statistics of this batch as in training.

    Raises ValueError where there is nothing to average.
    """
    if values.size == 0:
        raise ValueError(f"nothing to average in values of shape {values.shape}")
    axis = _AXIS[over]
    mean = values.mean(axis=axis, keepdims=True)
    variance = np.square(values - mean).mean(axis=axis, keepdims=True)
    deviation = np.sqrt(variance + epsilon)
    return Normalised(mean=mean, variance=variance, deviation=deviation, output=(values - mean) / deviation)


def sample_deviation(vector: Float[np.ndarray, " feature"]) -> float:
    """The square root of the sum of squares over n - 1, which neither of the two takes; of at least two numbers."""
    return float(vector.std(ddof=1))
