"""Norms: LayerNorm with and without a bias (Ba et al. 2016), and RMSNorm (Zhang & Sennrich 2019)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..config import ModelConfig

NormLayer = nn.LayerNorm | nn.RMSNorm | nn.Identity


def norm_layer(config: ModelConfig, width: int | None = None) -> NormLayer:
    """A new norm of the encoder's kind over `width` numbers (None: d_model)."""
    parts, width = config.family.parts, width or config.d_model
    if parts.norm == "rms":
        return nn.RMSNorm(width, eps=config.layer_norm_eps)
    return nn.LayerNorm(width, eps=config.layer_norm_eps, bias=parts.norm_bias)


class LinearNorm(NamedTuple):
    """A norm for states whose divisor is known: gain · (x − mean, where it is subtracted) / divisor + shift."""

    subtracts_mean: bool  # LayerNorm does, RMSNorm does not
    eps: float | None  # added to the mean square; None for a place without a norm, whose divisor is 1
    gain: Float[Tensor, " width"]
    shift: Float[Tensor, " width"]

    def centre(self, x: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes width"]:
        """`x` without its mean, if the norm subtracts the mean."""
        return x - x.mean(dim=-1, keepdim=True) if self.subtracts_mean else x

    def divisor(self, x: Float[Tensor, "*axes width"]) -> Float[Tensor, "*axes 1"]:
        """What the norm divides `x` by: the root of its variance, or of its mean square, plus eps; 1 without a norm."""
        if self.eps is None:
            return x.new_ones(*x.shape[:-1], 1)
        return (self.centre(x).square().mean(dim=-1, keepdim=True) + self.eps).sqrt()


def linear_norm(norm: NormLayer, width: int) -> LinearNorm:
    """Gain, shift and divisor of a norm, as its formula has them."""
    if isinstance(norm, nn.Identity):
        return LinearNorm(False, None, torch.ones(width), torch.zeros(width))
    assert norm.weight is not None, "norms without a gain do not occur"
    shift = getattr(norm, "bias", None)
    shift = torch.zeros_like(norm.weight) if shift is None else shift
    assert norm.eps is not None
    return LinearNorm(isinstance(norm, nn.LayerNorm), norm.eps, norm.weight, shift)
