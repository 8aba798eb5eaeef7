"""Untrained encoders that differ only in norm placement and depth."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from ..config import ModelConfig
from ..torch_seed import torch_seed
from ..transformer import Transformer

# Fields of the configuration, by the name on screen.
VARIANTS: dict[str, dict[str, Any]] = {
    "pre-LN": {"norm_placement": "pre", "final_norm": True},
    "post-LN": {"norm_placement": "post", "final_norm": False},
    "DeepNorm": {"norm_placement": "deepnorm", "final_norm": False},
    "B2T": {"norm_placement": "b2t", "final_norm": False},
    "pre-LN without residual": {"norm_placement": "pre", "final_norm": True, "residual": False},
    "post-LN without residual": {"norm_placement": "post", "final_norm": False, "residual": False},
}
Initialisation = Literal["theory", "Xavier"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrainedConfig:
    """Sizes and initialisation that the compared encoders have in common.

    The initialisation "theory" is that of Xiong et al. 2020 (section 3.3): W_Q = W_K = 0, and the other matrices are
    Gaussian with variance 2 / (n_in + n_out). Their attention has no W_O, so here W_O is the identity. "Xavier" is the
    initialisation of all trained encoders here: all matrices are uniform with the same variance.
    """

    d_model: int = 64
    n_heads: int = 4
    expansion: int = 1  # d_ff / d_model
    initialisation: Initialisation = "theory"
    gain: float = 1.0  # on every matrix of the layers


def make_untrained(
    setting: UntrainedConfig, variant: str, n_layers: int, seed: int, **fields: Any
) -> Transformer:
    """An untrained encoder; `fields` are those of `ModelConfig` for its input, such as `vocab_size` or `image_size`."""
    d_head = setting.d_model // setting.n_heads
    config = ModelConfig(
        d_model=setting.d_model,
        n_layers=n_layers,
        n_heads=setting.n_heads,
        d_k=d_head,
        d_v=d_head,
        d_ff=setting.d_model * setting.expansion,
        activation="relu",
        **VARIANTS[variant],
        **fields,
    )
    with torch_seed(seed), torch.no_grad():
        model = Transformer(config)
        if setting.initialisation == "theory":
            _initialise_as_in_theory(model)
        for block in model.blocks:
            for module in block.modules():
                if isinstance(module, nn.Linear):
                    module.weight.mul_(setting.gain)
    return model.eval()


def _initialise_as_in_theory(model: Transformer) -> None:
    for block in model.blocks:
        attention, feed_forward = block.attention, block.feed_forward
        for linear in (attention.w_q, attention.w_k):
            nn.init.zeros_(linear.weight)
        for linear in (attention.w_v, feed_forward.expand, feed_forward.contract):
            nn.init.xavier_normal_(linear.weight)
        nn.init.eye_(attention.w_o.weight)
    if model.config.norm_placement == "deepnorm":
        model.shrink_sublayers()
