"""DistilBERT (Sanh et al. 2019): BERT's blocks under other names, without token types and without a pooler."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .bert import TOKENS, read_text_encoder
from .output_layers import MaskedTokenLayers, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

BLOCK = {
    "attention.w_q": "attention.q_lin",
    "attention.w_k": "attention.k_lin",
    "attention.w_v": "attention.v_lin",
    "attention.w_o": "attention.out_lin",
    "norm_attention": "sa_layer_norm",
    "feed_forward.expand": "ffn.lin1",
    "feed_forward.contract": "ffn.lin2",
    "norm_feed_forward": "output_layer_norm",
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    activation = layout.activation("activation")
    masked = MaskedTokenLayers("vocab_transform", "vocab_layer_norm", ("vocab_projector.bias",), activation)
    outputs = read_outputs(layout, hidden=("pre_classifier", "relu"), masked=masked)
    outputs.family = replace(outputs.family, name="DistilBERT")
    return read_text_encoder(
        layout,
        outputs,
        [f"transformer.layer.{layer}" for layer in range(layout.n_layers("n_layers"))],
        BLOCK,
        d_model="dim",
        n_heads="n_heads",
        d_ff="hidden_dim",
        activation=activation,
        layer_norm_eps=1e-12,  # in its code, not in its configuration
        padding_id=layout.token_id("pad_token_id", 0),
    )
