"""Puts into a block the parts that an encoder's family has in the place of those of `model.transformer`; gated feed-forwards, and heads
that share keys and values.
"""

from collections.abc import Iterable

from jaxtyping import Float
from torch import Tensor, nn

from ..config import ModelConfig
from ..family_options import Rotary
from ..transformer import Block, FeedForward, States
from .grid_bias import GridBias, GridBiasedScores
from .norm_layers import norm_layer
from .rotary import GridRotated, Rotated

LINEAR_MAPS = {
    **{name: f"attention.{name}" for name in ("w_q", "w_k", "w_v", "w_o")},
    **{name: f"feed_forward.{name}" for name in ("expand", "gate", "contract")},
}


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
    """Makes the scores of all blocks biased by the offset between two patches, and returns the bias that the blocks share, if
    they share one.
    """
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
    """A linear map to `n_groups` heads, each of which is handed on `n_heads // n_groups` times in a row."""

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
