"""Replaces parts of a block (`model.transformer.Block`) by those of other families: gated feed-forwards, heads that share keys and
values, LayerNorm with and without a bias (Ba et al. 2016), and RMSNorm (Zhang & Sennrich 2019).
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..config import ModelConfig
from ..family_options import Rotary
from ..transformer import Block, FeedForward, States
from .relative_bias import GridBias, GridBiasedScores
from .rotary import GridRotated, Rotated

NormLayer = nn.LayerNorm | nn.RMSNorm | nn.Identity
LINEAR_MAPS = {
    **{name: f"attention.{name}" for name in ("w_q", "w_k", "w_v", "w_o")},
    **{name: f"feed_forward.{name}" for name in ("expand", "gate", "contract")},
}


def norm_layer(config: ModelConfig, width: int | None = None) -> NormLayer:
    """A new norm of the encoder's kind over `width` numbers (None: d_model)."""
    parts, width = config.family.parts, width or config.d_model
    if parts.norm == "rms":
        return nn.RMSNorm(width, eps=config.layer_norm_eps)
    return nn.LayerNorm(width, eps=config.layer_norm_eps, bias=parts.norm_bias)


class LinearNorm(NamedTuple):
    """The parts of a norm's formula, gain · (x − mean) / divisor + shift; RMSNorm does not subtract the mean."""

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
    """The parts of the formula of `norm` over `width` numbers; those of an identity are gain 1, shift 0 and divisor 1."""
    if isinstance(norm, nn.Identity):
        return LinearNorm(False, None, torch.ones(width), torch.zeros(width))
    assert norm.weight is not None, "norms without a gain do not occur"
    shift = getattr(norm, "bias", None)
    shift = torch.zeros_like(norm.weight) if shift is None else shift
    assert norm.eps is not None
    return LinearNorm(isinstance(norm, nn.LayerNorm), norm.eps, norm.weight, shift)


def replace_parts(block: Block, config: ModelConfig, layer: int) -> None:
    """Replaces the parts of the block in `layer` that `config.family.parts` names; the hook points keep their names."""
    parts, attention = config.family.parts, block.attention
    block.norm_attention, block.norm_feed_forward = norm_layer(config), norm_layer(config)  # type: ignore[assignment]  # called alike
    if layer == 0 and not parts.first_norm:
        block.norm_attention = nn.Identity()  # type: ignore[assignment]  # called alike
    if parts.gated:
        block.feed_forward = GatedFeedForward(config)
    if parts.n_key_heads:
        attention.w_k = GroupedLinear(config.d_model, config.n_heads, parts.n_key_heads, config.d_k)
        attention.w_v = GroupedLinear(config.d_model, config.n_heads, parts.n_key_heads, config.d_v)
    if not parts.scaled:
        attention.scale = 1.0
    if parts.rotary is not None:
        attention.q = _rotated(parts.rotary, layer, config)
        attention.k = _rotated(parts.rotary, layer, config)
    for name in parts.without_bias:
        block.get_submodule(LINEAR_MAPS[name]).register_parameter("bias", None)


def add_grid_bias(blocks: Iterable[Block], config: ModelConfig) -> GridBias | None:
    """Makes the scores of all blocks biased by the offset between two patches; returns the bias that they share, if any."""
    parts = config.family.parts
    shared = GridBias(config) if parts.grid_bias_shared else None
    for block in blocks:
        own = GridBias(config) if parts.grid_bias_by_layer else None
        block.attention.scores = GridBiasedScores(own, shared)
    return shared


def _rotated(rotary: Rotary, layer: int, config: ModelConfig) -> Rotated:
    return GridRotated(rotary, layer, config) if rotary.on_grid else Rotated(rotary, layer, config.d_k)


class GatedFeedForward(FeedForward):
    """W_2 (act(W_1 x) ⊙ W_3 x): GeGLU with GELU, SwiGLU with SiLU. `hidden` is the product in the brackets."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.gate = nn.Linear(config.d_model, config.d_ff)

    def forward(self, x: States) -> States:
        hidden = self.hidden(self.activation(self.expand(x)) * self.gate(x))
        return self.contract(self.dropout(hidden))


class GroupedLinear(nn.Linear):
    """A linear map to the keys or values of `n_groups` groups; its output repeats each for the `n_heads // n_groups` heads of a group."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int, d_head: int) -> None:
        super().__init__(d_model, n_groups * d_head)
        self.n_groups, self.n_repeats = n_groups, n_heads // n_groups

    def forward(self, input: Float[Tensor, "*axes d_model"]) -> Float[Tensor, "*axes heads_width"]:
        heads = super().forward(input).unflatten(-1, (self.n_groups, -1))
        return heads.repeat_interleave(self.n_repeats, dim=-2).flatten(-2)


def weight_by_head(linear: nn.Linear) -> Float[Tensor, "out in"]:
    """The weight of a projection to q, k or v with a row for every number of every head, shared ones repeated."""
    return _repeat(linear, linear.weight)


def bias_by_head(linear: nn.Linear) -> Float[Tensor, " out"]:
    """The bias of a projection to q, k or v for every number of every head; zeros where it has none."""
    if linear.bias is None:
        return linear.weight.new_zeros(len(weight_by_head(linear)))
    return _repeat(linear, linear.bias)


def _repeat(linear: nn.Linear, rows: Tensor) -> Tensor:
    if not isinstance(linear, GroupedLinear):
        return rows
    groups = rows.unflatten(0, (linear.n_groups, -1))
    return groups.repeat_interleave(linear.n_repeats, dim=0).flatten(0, 1)
