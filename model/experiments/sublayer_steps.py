"""Steps of a norm and of the feed-forward at one position, recomputed in numpy and in double precision.

Layer normalisation and batch normalisation are one formula, averaged over different axes; RMSNorm is the same without
subtracting the mean. Ba, Kiros & Hinton 2016, equation 4; Ioffe & Szegedy 2015, algorithm 1; Zhang & Sennrich 2019, equation 4.
The variance is that of the population, divided by n and not by n - 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.special import expit, ndtr
from torch import Tensor, nn

from ..activations import QuickGELU
from ..parts.block import GatedFeedForward, NormLayer, bias_by_head, linear_norm, weight_by_head
from ..transformer import FeedForward

EPSILON = 1e-5  # as torch.nn.LayerNorm and torch.nn.BatchNorm1d have it
_AXIS = {"features": -1, "batch": 0}

NormAxis = Literal["features", "batch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """The steps of a norm, gain * (x - mean) / deviation + shift, at one position: LayerNorm (Ba et al. 2016, eq. 4), or RMSNorm,
    in which `mean` and `shift` are 0 (Zhang & Sennrich 2019, eq. 4).
    """

    name: Literal["LayerNorm", "RMSNorm"]
    x: Float[np.ndarray, " d_model"]
    mean: float  # what is subtracted: the mean of x, or 0 in RMSNorm
    deviation: float  # sqrt(variance + epsilon)
    gain: Float[np.ndarray, " d_model"]
    shift: Float[np.ndarray, " d_model"]  # zeros if there is none
    has_shift: bool

    @property
    def variance(self) -> float:
        """Mean of (x - mean)² over d_model: the variance of x, or in RMSNorm its mean square."""
        return float(np.square(self.x - self.mean).mean())

    @property
    def standardised(self) -> Float[np.ndarray, " d_model"]:
        """Standardised vector (x - mean) / deviation, before gain and shift."""
        return (self.x - self.mean) / self.deviation

    @property
    def out(self) -> Float[np.ndarray, " d_model"]:
        return self.gain * self.standardised + self.shift


def norm_steps(x: Float[np.ndarray, " d_model"], layer: NormLayer) -> Norm:
    """The steps of the norm `layer`, which must not be an identity, for the vector `x`."""
    norm = linear_norm(layer, len(x))
    assert norm.eps is not None, "the identity is no norm"
    mean = float(x.mean()) if norm.subtracts_mean else 0.0
    return Norm(
        name="LayerNorm" if norm.subtracts_mean else "RMSNorm",
        x=x,
        mean=mean,
        deviation=math.sqrt(np.square(x - mean).mean() + norm.eps),
        gain=as_float64(norm.gain),
        shift=as_float64(norm.shift),
        has_shift=getattr(layer, "bias", None) is not None,
    )


def apply_norm(x: Float[np.ndarray, "row d_model"], layer: NormLayer) -> Float[np.ndarray, "row d_model"]:
    """The norm `layer` of each row of `x`; `x` itself if `layer` is an identity."""
    if isinstance(layer, nn.Identity):
        return x
    return np.array([norm_steps(row, layer).out for row in x])


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForwardSteps:
    """Steps of the feed-forward, activation(x W_1 + b_1) W_2 + b_2, at one position (Vaswani et al. 2017, 3.3).

    With a gate, the activation of each hidden unit is multiplied by that unit of x W_3 + b_3 (Shazeer 2020).
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

    def strongest(self, max_units: int) -> list[int]:
        """Up to `max_units` hidden units with the largest |h|, the largest first; h is `hidden`."""
        return largest_indices(np.abs(self.hidden), max_units)

    def largest_contributions(self, max_units: int) -> list[int]:
        """Up to `max_units` hidden units whose contributions to `out` have the largest norms, the largest first."""
        return largest_indices(np.linalg.norm(self.by_unit, axis=1), max_units)

    def share(self, units: Sequence[int]) -> float:
        """Share of the hidden units `units` in the sum of |h| over all hidden units, from 0 to 1."""
        magnitudes = np.abs(self.hidden)
        return float(magnitudes[list(units)].sum() / (magnitudes.sum() or 1))


def feed_forward_steps(x: Float[np.ndarray, " d_model"], layer: FeedForward) -> FeedForwardSteps:
    """The steps of the feed-forward `layer` for its input `x`."""
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


def largest_indices(values: Float[np.ndarray, " item"], max_indices: int) -> list[int]:
    """Up to `max_indices` indices of the largest of `values`, the largest first; equal values keep their order."""
    return np.argsort(-values, kind="stable")[:max_indices].tolist()


def as_float64(values: Tensor) -> Float[np.ndarray, "..."]:
    """The values of a tensor, in double precision."""
    return values.detach().cpu().numpy().astype(float)


def weight_and_bias(layer: nn.Linear) -> tuple[Float[np.ndarray, "inner outer"], Float[np.ndarray, " outer"]]:
    """Weight W and bias b of a linear map, with y = x W + b as in the papers; b is zeros if the map has none.

    If several heads share a key or value, W and b hold a copy of it for each head.
    """
    return as_float64(weight_by_head(layer)).T, as_float64(bias_by_head(layer))


def apply_linear(x: Float[np.ndarray, "*axes inner"], layer: nn.Linear) -> Float[np.ndarray, "*axes outer"]:
    """The linear map x W + b."""
    weight, bias = weight_and_bias(layer)
    return x @ weight + bias


def apply_activation(x: Float[np.ndarray, " d_ff"], activation: nn.Module) -> Float[np.ndarray, " d_ff"]:
    """ReLU of x; SiLU x σ(x); or GELU x Φ(x), exactly or in its approximations by tanh and by σ (Hendrycks & Gimpel 2016)."""
    if isinstance(activation, nn.ReLU):
        return np.maximum(x, 0)
    if isinstance(activation, nn.SiLU):
        return x * expit(x)
    if isinstance(activation, QuickGELU):
        return x * expit(1.702 * x)
    if isinstance(activation, nn.GELU) and activation.approximate == "tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * ndtr(x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """Output (values - mean) / deviation of a normalisation, and its statistics, in which the averaged axis has length 1."""

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
    over: NormAxis,
    *,
    subtracts_mean: bool = True,
    epsilon: float = EPSILON,
) -> Normalised:
    """Layer normalisation (over "features") or batch normalisation (over "batch") of `values` by their own statistics.

    Unless `subtracts_mean`, the mean is taken as 0: over "features" that is RMSNorm, and the variance is the mean square.
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
    """Standard deviation with n - 1 in the denominator, of at least two numbers; no normalisation uses it."""
    return float(vector.std(ddof=1))
