"""Running means, standard deviations and covariances, whose memory does not grow with the number of examples."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and standard deviation over examples: two arrays of the same shape. Raises ValueError if the shapes differ."""

    mean: Float[np.ndarray, "..."]
    sd: Float[np.ndarray, "..."]

    def __post_init__(self) -> None:
        if self.mean.shape != self.sd.shape:
            raise ValueError(f"a mean of {self.mean.shape} and a deviation of {self.sd.shape}")


class Moments:
    """Count, mean and sum of squared deviations over examples, for each element of an array, in float64; skips NaN values.

    Moments of parts of the data can be merged in any order; except for rounding, the result is that for all data at once (Chan,
    Golub & LeVeque 1979).
    """

    def __init__(
        self, n: np.ndarray | float = 0.0, mean: np.ndarray | float = 0.0, squares: np.ndarray | float = 0.0
    ) -> None:
        self.n, self.mean, self.squares = (np.asarray(value, np.float64) for value in (n, mean, squares))

    @classmethod
    def from_examples(cls, values: Float[np.ndarray, "example ..."]) -> "Moments":
        """Moments over the first axis of `values`, the examples."""
        values = np.asarray(values, np.float64)
        is_present = ~np.isnan(values)
        n = is_present.sum(axis=0)
        mean = np.where(is_present, values, 0).sum(axis=0) / np.maximum(n, 1)
        return cls(n, mean, np.where(is_present, (values - mean) ** 2, 0).sum(axis=0))

    def add(self, values: Float[np.ndarray, "..."]) -> None:
        """Adds the values of one example."""
        self.merge(Moments.from_examples(np.asarray(values)[None]))

    def merge(self, other: "Moments") -> None:
        """Adds all examples of `other`."""
        n = self.n + other.n
        share = other.n / np.maximum(n, 1)
        difference = other.mean - self.mean
        self.mean = self.mean + difference * share
        self.squares = self.squares + other.squares + difference**2 * self.n * share
        self.n = n

    @property
    def spread(self) -> Spread:
        """Mean, NaN for elements without a value, and standard deviation (divisor n - 1), NaN for fewer than two values."""
        mean = np.where(self.n > 0, self.mean, np.nan)
        return Spread(
            mean=mean, sd=np.where(self.n > 1, np.sqrt(self.squares / np.maximum(self.n - 1, 1)), np.nan)
        )


def merge(target: dict[str, Moments], other: Mapping[str, Moments]) -> None:
    """Merges the moments of `other` into those of the same name in `target`, which is changed."""
    for name, moments in other.items():
        target.setdefault(name, Moments()).merge(moments)


def to_arrays(moments_by_name: Mapping[str, Moments]) -> Arrays:
    """The moments as arrays by name, which can be stored or sent to another process."""
    return {
        f"{name}/{field}": np.ascontiguousarray(getattr(moments, field))
        for name, moments in moments_by_name.items()
        for field in ("n", "mean", "squares")
    }


def from_arrays(arrays: Mapping[str, np.ndarray]) -> dict[str, Moments]:
    """The moments by name, from the arrays that `to_arrays` returned."""
    names = dict.fromkeys(key.rpartition("/")[0] for key in arrays)
    return {
        name: Moments(*(arrays[f"{name}/{field}"] for field in ("n", "mean", "squares"))) for name in names
    }


class CrossMoments:
    """Running covariances of the states of two encoders at equal stages, from which linear CKA is computed."""

    def __init__(self) -> None:
        self.n = 0
        self._origins: list[np.ndarray] | None = None
        self._sums = [np.zeros(())] * 2
        self._products = [np.zeros(())] * 3  # of the first, of the second, across

    def add(
        self,
        first: Float[np.ndarray, "stage row width"],
        second: Float[np.ndarray, "stage row other_width"],
    ) -> None:
        """Adds the states of one example in the first and in the second encoder."""
        states = [state.astype(np.float64) for state in (first, second)]
        # Relative to the first state: states far from zero keep their precision, and equal states are exactly 0.
        if self._origins is None:
            self._origins = [state[:, :1].copy() for state in states]
        first_states, second_states = (
            state - origin for state, origin in zip(states, self._origins, strict=True)
        )
        self.n += first_states.shape[1]
        self._sums = [
            total + x.sum(axis=1) for total, x in zip(self._sums, (first_states, second_states), strict=True)
        ]
        pairs = ((first_states, first_states), (second_states, second_states), (first_states, second_states))
        self._products = [
            total + x.swapaxes(1, 2) @ y for total, (x, y) in zip(self._products, pairs, strict=True)
        ]

    def cka(self) -> Float[np.ndarray, " stage"]:
        """Linear CKA of the two encoders' states at each stage, over all rows of all examples; NaN where all rows are equal."""
        first, second, cross = self._covariances()
        with np.errstate(invalid="ignore"):
            return _frobenius_norms(cross) ** 2 / (_frobenius_norms(first) * _frobenius_norms(second))

    def by_chance(self) -> Float[np.ndarray, " stage"]:
        """Expected value of `cka` if the rows of one encoder were in random order.

        It is tr(C_1) tr(C_2) / ((n - 1) ‖C_1‖ ‖C_2‖) with the covariances C, since the mean of a centred Gram matrix over all
        orders of its rows is its trace / (n - 1) times the centring matrix.
        """
        first, second, _ = self._covariances()
        traces = np.trace(first, axis1=1, axis2=2) * np.trace(second, axis1=1, axis2=2)
        with np.errstate(invalid="ignore"):
            return traces / (max(self.n - 1, 1) * _frobenius_norms(first) * _frobenius_norms(second))

    def _covariances(self) -> list[Float[np.ndarray, "stage width other_width"]]:
        first_sum, second_sum = self._sums
        sum_pairs = ((first_sum, first_sum), (second_sum, second_sum), (first_sum, second_sum))
        return [
            product - x[:, :, None] * y[:, None] / self.n
            for product, (x, y) in zip(self._products, sum_pairs, strict=True)
        ]


def _frobenius_norms(matrices: Float[np.ndarray, "stage width other_width"]) -> Float[np.ndarray, " stage"]:
    return np.linalg.norm(matrices, axis=(1, 2))
