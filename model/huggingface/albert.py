"""ALBERT (Lan et al. 2020): all layers share their weights, and the embedding is narrower than the encoder."""

from collections.abc import Mapping
from typing import Any

from ..config import ModelConfig
from ..family_options import Family
from .bert import PLACES, TYPES, WORDS, refuse_variants
from .output_layers import read_outputs
from .tensor_map import LIKE_BERT, Layout, Reading
from .weights import Stored


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, WORDS)
    refuse_variants(layout)
    if layout.number("inner_group_num", 1) != 1:
        raise ValueError("inner_group_num is not 1: groups of several inner layers are not supported")
    masked = (
        "predictions.dense",
        "predictions.LayerNorm",
        ("predictions.bias", "predictions.decoder.bias"),
        layout.act("hidden_act", "gelu_new"),
    )
    outputs = read_outputs(layout, pooler="pooler", masked=masked)
    n_layers, n_groups = (
        layout.layers("num_hidden_layers", shared=True),
        layout.number("num_hidden_groups", 1),
    )
    if not 1 <= n_groups <= max(n_layers, 1):
        raise ValueError(f"{n_layers} layers cannot be in {n_groups} groups")
    sizes = layout.widths(layout.number("hidden_size"), layout.number("num_attention_heads"))
    n_stored, width = layout.number("max_position_embeddings"), layout.number("embedding_size")
    n_types = layout.number("type_vocab_size", 0) if layout.has(TYPES) else 0
    config = ModelConfig(
        **sizes,
        n_layers=n_layers,
        d_ff=layout.number("intermediate_size"),
        n_positions=layout.positions(n_stored, n_layers, sizes["n_heads"]),
        vocab_size=layout.number("vocab_size"),
        padding_id=layout.token("pad_token_id", 0),
        **LIKE_BERT,
        activation=layout.act("hidden_act", "gelu_new"),
        layer_norm_eps=layout.real("layer_norm_eps", 1e-12),
        family=Family(
            name="ALBERT",
            n_token_types=n_types,
            d_embedding=width,
            n_layer_groups=n_groups,
            **outputs[1],
        ),
        **outputs[0],
    )
    layout.take("embedding.tokens.weight", WORDS)
    layout.take("embedding.position_table", PLACES, (n_stored, width))
    if n_types:
        layout.take("embedding.types.weight", TYPES)
    layout.linear("embedding.norm.0", "embeddings.LayerNorm")
    layout.linear("embedding.norm.1", "encoder.embedding_hidden_mapping_in")
    for layer in range(n_layers):
        group = int(layer / (n_layers / n_groups))
        ours, theirs = f"blocks.{layer}", f"encoder.albert_layer_groups.{group}.albert_layers.0"
        for part, name in (("w_q", "query"), ("w_k", "key"), ("w_v", "value"), ("w_o", "dense")):
            layout.linear(f"{ours}.attention.{part}", f"{theirs}.attention.{name}")
        layout.linear(f"{ours}.norm_attention", f"{theirs}.attention.LayerNorm")
        layout.linear(f"{ours}.feed_forward.expand", f"{theirs}.ffn")
        layout.linear(f"{ours}.feed_forward.contract", f"{theirs}.ffn_output")
        layout.linear(f"{ours}.norm_feed_forward", f"{theirs}.full_layer_layer_norm")
    return Reading(config, layout.sources, layout.zeros, layout.notes)
