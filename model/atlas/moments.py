"""Means, deviations and covariances of what comes one example at a time: no example makes them larger."""

import numpy as np
from jaxtyping import Float

from .stored import Spread


class Moments:
    """Mean and standard deviation of arrays of one shape, by Welford's recurrence."""

    def __init__(self) -> None:
        self.n = 0
        self.mean = self._squares = np.zeros(())

    def add(self, values: Float[np.ndarray, "..."]) -> None:
        self.n += 1
        off = values - self.mean
        self.mean = self.mean + off / self.n
        self._squares = self._squares + off * (values - self.mean)

    @property
    def spread(self) -> Spread:
        """The deviation with n - 1. Raises ValueError for fewer than two arrays."""
        if self.n < 2:
            raise ValueError(f"a spread needs two examples at least, got {self.n}")
        return Spread(mean=self.mean, sd=np.sqrt(self._squares / (self.n - 1)))


class CrossMoments:
    """Of the states of two encoders at equal stages: the three covariances of which linear CKA is made."""

    def __init__(self) -> None:
        self.n = 0
        self._origins: tuple[np.ndarray, np.ndarray] | None = None
        self._sums = [np.zeros(())] * 2
        self._products = [np.zeros(())] * 3  # of the first, of the second, across

    def add(
        self,
        first: Float[np.ndarray, "stage row width"],
        second: Float[np.ndarray, "stage row other_width"],
    ) -> None:
        states = [each.astype(np.float64) for each in (first, second)]
        # From the first state of all: sums about zero would lose what lies far from it, and equal states are exactly 0.
        self._origins = self._origins or tuple(each[:, :1].copy() for each in states)
        one, other = (each - origin for each, origin in zip(states, self._origins, strict=True))
        self.n += one.shape[1]
        self._sums = [total + x.sum(axis=1) for total, x in zip(self._sums, (one, other), strict=True)]
        pairs = ((one, one), (other, other), (one, other))
        self._products = [
            total + x.swapaxes(1, 2) @ y for total, (x, y) in zip(self._products, pairs, strict=True)
        ]

    def cka(self) -> Float[np.ndarray, " stage"]:
        """`model.measures.similarity.linear_cka` of each stage with the same stage, all rows pooled; NaN for equal rows."""
        first, second, across = self._covariances()
        with np.errstate(invalid="ignore"):
            return _length(across) ** 2 / (_length(first) * _length(second))

    def by_chance(self) -> Float[np.ndarray, " stage"]:
        """What `cka` comes to with the rows of one side in a random order: its expectation over all orders.

        tr(C_1) tr(C_2) / ((n - 1) ‖C_1‖ ‖C_2‖): a Gram matrix in a random order is on average tr / (n - 1) times
        the matrix that centres.
        """
        first, second, _ = self._covariances()
        traces = np.trace(first, axis1=1, axis2=2) * np.trace(second, axis1=1, axis2=2)
        with np.errstate(invalid="ignore"):
            return traces / (max(self.n - 1, 1) * _length(first) * _length(second))

    def _covariances(self) -> list[Float[np.ndarray, "stage width other_width"]]:
        one, other = self._sums
        sums = ((one, one), (other, other), (one, other))
        return [
            product - x[:, :, None] * y[:, None] / self.n
            for product, (x, y) in zip(self._products, sums, strict=True)
        ]


def _length(matrices: Float[np.ndarray, "stage width other_width"]) -> Float[np.ndarray, " stage"]:
    return np.linalg.norm(matrices, axis=(1, 2))
