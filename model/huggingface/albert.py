"""ALBERT (Lan et al. 2020): all layers share their weights, and the embedding is narrower than the encoder."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .bert import TOKENS, read_text_encoder, refuse_variants
from .output_layers import MaskedTokenLayers, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

BLOCK = {
    "attention.w_q": "attention.query",
    "attention.w_k": "attention.key",
    "attention.w_v": "attention.value",
    "attention.w_o": "attention.dense",
    "norm_attention": "attention.LayerNorm",
    "feed_forward.expand": "ffn",
    "feed_forward.contract": "ffn_output",
    "norm_feed_forward": "full_layer_layer_norm",
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    refuse_variants(layout)
    if layout.whole_number("inner_group_num", 1) != 1:
        raise ValueError("inner_group_num is not 1: groups of several inner layers are not supported")
    activation = layout.activation("hidden_act", "gelu_new")
    masked = MaskedTokenLayers(
        "predictions.dense",
        "predictions.LayerNorm",
        ("predictions.bias", "predictions.decoder.bias"),
        activation,
    )
    outputs = read_outputs(layout, pooler="pooler", masked=masked)
    n_layers = layout.n_layers("num_hidden_layers", shared=True)
    n_groups = layout.whole_number("num_hidden_groups", 1)
    if not 1 <= n_groups <= n_layers:
        raise ValueError(f"{n_layers} layers cannot be in {n_groups} groups")
    groups = [int(layer / (n_layers / n_groups)) for layer in range(n_layers)]
    width = layout.whole_number("embedding_size")
    outputs.family = replace(outputs.family, name="ALBERT", d_embedding=width, n_layer_groups=n_groups)
    layout.map_linear("embedding.norm.1", "encoder.embedding_hidden_mapping_in")
    return read_text_encoder(
        layout,
        outputs,
        [f"encoder.albert_layer_groups.{group}.albert_layers.0" for group in groups],
        BLOCK,
        activation=activation,
        padding_id=layout.token_id("pad_token_id", 0),
    )
