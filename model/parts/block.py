"""Puts into a block the parts that an encoder's family has in the place of those of `model.transformer`."""

from collections.abc import Iterable

from torch import nn

from ..config import ModelConfig
from ..family_options import Rotary
from ..transformer import Block
from .feed_forward import GatedFeedForward
from .grid_bias import GridBias, GridBiasedScores
from .grid_rotary import GridRotated
from .grouped_keys import GroupedLinear
from .norm_layers import norm_layer
from .rotary import Rotated

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
