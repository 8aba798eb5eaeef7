"""Puts into a block the parts that an encoder's family has in the place of those of `model.transformer`."""

from torch import nn

from ..config import ModelConfig
from ..transformer import Block
from .feed_forward import GatedFeedForward
from .grouped_keys import GroupedLinear
from .norms import norm_layer
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
        attention.q = Rotated(parts.rotary, layer, config.d_k)
        attention.k = Rotated(parts.rotary, layer, config.d_k)
    for name in parts.without_bias:
        block.get_submodule(LINEAR_MAPS[name]).register_parameter("bias", None)
