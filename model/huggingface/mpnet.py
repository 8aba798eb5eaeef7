"""MPNet (Song et al. 2020): BERT's blocks with a bias on the scores that depends on distance, shared by all layers."""

from collections.abc import Mapping
from typing import Any

from ..config import ModelConfig
from ..family_options import Family
from .bert import PLACES, WORDS
from .encoder import FURTHEST
from .output_layers import read_outputs
from .tensor_map import LIKE_BERT, Layout, Reading
from .weights import Stored

BIAS = "encoder.relative_attention_bias.weight"


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, WORDS)
    masked = ("lm_head.dense", "lm_head.layer_norm", ("lm_head.bias", "lm_head.decoder.bias"), "gelu")
    outputs = read_outputs(layout, pooler="pooler.dense", hidden=("classifier.dense", "tanh"), masked=masked)
    n_layers = layout.layers("num_hidden_layers")
    sizes = layout.widths(layout.number("hidden_size"), layout.number("num_attention_heads"))
    n_stored, first = (
        layout.number("max_position_embeddings"),
        2,
    )  # as its code counts, whatever the padding's number
    n_buckets = layout.number("relative_attention_num_buckets", 32)
    if not 4 <= n_buckets < 4 * FURTHEST:
        raise ValueError(
            f"{n_buckets:,} relative_attention_num_buckets: from 4 to {4 * FURTHEST - 1} are supported"
        )
    config = ModelConfig(
        **sizes,
        n_layers=n_layers,
        d_ff=layout.number("intermediate_size"),
        n_positions=layout.positions(n_stored, n_layers, sizes["n_heads"], first),
        vocab_size=layout.number("vocab_size"),
        padding_id=layout.token("pad_token_id", 1),
        **LIKE_BERT,
        activation=layout.act(),
        layer_norm_eps=layout.real("layer_norm_eps", 1e-12),
        family=Family(
            name="MPNet",
            n_relative_buckets=n_buckets,
            **outputs[1],
        ),
        **outputs[0],
    )
    layout.take("embedding.tokens.weight", WORDS)
    layout.take("embedding.position_table", PLACES, (n_stored, config.d_model), first)
    layout.linear("embedding.norm", "embeddings.LayerNorm")
    layout.take("relative_bias.weight", BIAS)
    for layer in range(n_layers):
        ours, theirs = f"blocks.{layer}", f"encoder.layer.{layer}"
        for part in "qkvo":
            layout.linear(f"{ours}.attention.w_{part}", f"{theirs}.attention.attn.{part}")
        layout.linear(f"{ours}.norm_attention", f"{theirs}.attention.LayerNorm")
        layout.linear(f"{ours}.feed_forward.expand", f"{theirs}.intermediate.dense")
        layout.linear(f"{ours}.feed_forward.contract", f"{theirs}.output.dense")
        layout.linear(f"{ours}.norm_feed_forward", f"{theirs}.output.LayerNorm")
    return Reading(config, layout.sources, layout.zeros, layout.notes)
