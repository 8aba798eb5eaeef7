"""The feed-forward at one position, recomputed in double precision, with and without a gate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..parts.block import GatedFeedForward
from ..transformer import FeedForward
from .double_precision import apply_activation, apply_linear, weight_and_bias


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForwardSteps:
    """Steps of the feed-forward, activation(x W_1 + b_1) W_2 + b_2, at one position (Vaswani et al. 2017, 3.3).

    With a gate, each activation is multiplied by the same unit of another linear map, x W_3 + b_3 (Shazeer 2020).
    `by_unit` is the contribution of each hidden unit; its sum over the d_ff units, plus `bias`, is `out`.
    """

    sublayer_input: Float[np.ndarray, " d_model"]
    before: Float[np.ndarray, " d_ff"]  # the activation
    activated: Float[np.ndarray, " d_ff"]
    gate: Float[np.ndarray, " d_ff"] | None  # what `activated` is multiplied by
    hidden: Float[np.ndarray, " d_ff"]
    by_unit: Float[np.ndarray, "d_ff d_model"]  # a hidden unit through its own row of W_2
    bias: Float[np.ndarray, " d_model"]
    out: Float[np.ndarray, " d_model"]

    @property
    def n_positive(self) -> int:
        """Number of hidden units that are positive before the activation function."""
        return int((self.before > 0).sum())

    @property
    def sum_over_units(self) -> Float[np.ndarray, " d_model"]:
        """Sum of `by_unit` over the hidden units: `out` without the bias."""
        return self.by_unit.sum(axis=0)

    def strongest(self, at_most: int) -> list[int]:
        """Up to `at_most` hidden units with the largest |h|, the largest first."""
        return largest_indices(np.abs(self.hidden), at_most)

    def largest_contributions(self, at_most: int) -> list[int]:
        """Up to `at_most` hidden units whose contributions to `out` have the largest norms, the largest first."""
        return largest_indices(np.linalg.norm(self.by_unit, axis=1), at_most)

    def share(self, units: Sequence[int]) -> float:
        """Share of the hidden units `units` in the sum of |h| over all hidden units, from 0 to 1."""
        magnitudes = np.abs(self.hidden)
        return float(magnitudes[list(units)].sum() / (magnitudes.sum() or 1))


def feed_forward_steps(x: Float[np.ndarray, " d_model"], layer: FeedForward) -> FeedForwardSteps:
    """The steps of `layer` for its input `x`."""
    before = apply_linear(x, layer.expand)
    activated = apply_activation(before, layer.activation)
    gate = apply_linear(x, layer.gate) if isinstance(layer, GatedFeedForward) else None
    hidden = activated if gate is None else activated * gate
    w_2, bias = weight_and_bias(layer.contract)
    by_unit = hidden[:, None] * w_2
    return FeedForwardSteps(
        sublayer_input=x,
        before=before,
        activated=activated,
        gate=gate,
        hidden=hidden,
        by_unit=by_unit,
        bias=bias,
        out=by_unit.sum(axis=0) + bias,
    )


def largest_indices(strengths: Float[np.ndarray, " item"], at_most: int) -> list[int]:
    """Up to `at_most` indices of the largest numbers, the largest first; of equal numbers the first."""
    return np.argsort(-strengths, kind="stable")[:at_most].tolist()
