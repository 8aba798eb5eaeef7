"""Means, deviations and covariances of what comes a few examples at a time: no example makes them larger."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from .results import Spread

Arrays = dict[str, np.ndarray]


class Moments:
    """Count, mean and squared deviations of arrays of one shape, number by number, in float64; NaN is left out.

    Parts that were added up apart are merged (Chan, Golub & LeVeque 1979), in any order, to what one pass makes but
    for rounding.
    """

    def __init__(
        self, n: np.ndarray | float = 0.0, mean: np.ndarray | float = 0.0, squares: np.ndarray | float = 0.0
    ) -> None:
        self.n, self.mean, self.squares = (np.asarray(each, np.float64) for each in (n, mean, squares))

    @classmethod
    def of(cls, values: Float[np.ndarray, "example ..."]) -> "Moments":
        """Over the first axis."""
        values = np.asarray(values, np.float64)
        known = ~np.isnan(values)
        n = known.sum(axis=0)
        mean = np.where(known, values, 0).sum(axis=0) / np.maximum(n, 1)
        return cls(n, mean, np.where(known, (values - mean) ** 2, 0).sum(axis=0))

    def add(self, values: Float[np.ndarray, "..."]) -> None:
        """One array."""
        self.merge(Moments.of(np.asarray(values)[None]))

    def merge(self, other: "Moments") -> None:
        n = self.n + other.n
        share = other.n / np.maximum(n, 1)
        off = other.mean - self.mean
        self.mean = self.mean + off * share
        self.squares = self.squares + other.squares + off**2 * self.n * share
        self.n = n

    @property
    def spread(self) -> Spread:
        """The deviation with n - 1. Raises ValueError for fewer than two arrays."""
        if self.n.min() < 2:
            raise ValueError(f"a spread needs two examples at least, got {self.n.min():.0f}")
        return Spread(mean=self.mean, sd=np.sqrt(self.squares / (self.n - 1)))

    @property
    def spread_or_nan(self) -> Spread:
        """As `spread`, NaN where too few numbers came."""
        mean = np.where(self.n > 0, self.mean, np.nan)
        return Spread(
            mean=mean, sd=np.where(self.n > 1, np.sqrt(self.squares / np.maximum(self.n - 1, 1)), np.nan)
        )


def merge(one: dict[str, Moments], other: Mapping[str, Moments]) -> None:
    """All of `other` into `one`, by name."""
    for name, moments in other.items():
        one.setdefault(name, Moments()).merge(moments)


def to_arrays(many: Mapping[str, Moments]) -> Arrays:
    """As they can be stored, and sent to another process."""
    return {
        f"{name}/{part}": np.ascontiguousarray(getattr(each, part))
        for name, each in many.items()
        for part in ("n", "mean", "squares")
    }


def from_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, Moments]:
    """What `to_arrays` made."""
    names = dict.fromkeys(key.rpartition("/")[0] for key in arrays)
    return {name: Moments(*(arrays[f"{name}/{part}"] for part in ("n", "mean", "squares"))) for name in names}


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
        """`model.experiments.similarity.linear_cka` of each stage with the same stage, all rows pooled; NaN for equal rows."""
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
