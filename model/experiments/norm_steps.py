"""A norm at one position, recomputed in double precision: LayerNorm or RMSNorm."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from torch import nn

from ..parts.norm_layers import NormLayer, linear_norm
from .double_precision import as_float64


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """A norm gain * (x - mean) / deviation + shift at one position: LayerNorm (Ba et al. 2016, eq. 4), or RMSNorm, which
    subtracts nothing and adds nothing (Zhang & Sennrich 2019, eq. 4).
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
        """Mean of (x - mean)²: the variance of x, divided by d_model, or in RMSNorm its mean square."""
        return float(np.square(self.x - self.mean).mean())

    @property
    def standardised(self) -> Float[np.ndarray, " d_model"]:
        """Standardised vector (x - mean) / deviation, before gain and shift."""
        return (self.x - self.mean) / self.deviation

    @property
    def out(self) -> Float[np.ndarray, " d_model"]:
        return self.gain * self.standardised + self.shift


def norm_steps(x: Float[np.ndarray, " d_model"], layer: NormLayer) -> Norm:
    """The steps of `layer`, a norm and not the identity, for the vector `x`."""
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
    """Each row of `x` behind the norm; `x` itself where there is none."""
    if isinstance(layer, nn.Identity):
        return x
    return np.array([norm_steps(row, layer).out for row in x])
