"""DistilBERT (Sanh et al. 2019): BERT's blocks under other names, without token types and without a pooler."""

from collections.abc import Mapping
from typing import Any

from ..config import ModelConfig
from ..family_options import Family
from .bert import PLACES, WORDS
from .output_layers import read_outputs
from .tensor_map import LIKE_BERT, Layout, Reading
from .weights import Stored


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, WORDS)
    act = layout.act("activation")
    masked = ("vocab_transform", "vocab_layer_norm", ("vocab_projector.bias",), act)
    outputs = read_outputs(layout, hidden=("pre_classifier", "relu"), masked=masked)
    n_layers = layout.layers("n_layers")
    sizes = layout.widths(layout.number("dim"), layout.number("n_heads"))
    n_stored = layout.number("max_position_embeddings")
    config = ModelConfig(
        **sizes,
        n_layers=n_layers,
        d_ff=layout.number("hidden_dim"),
        n_positions=layout.positions(n_stored, n_layers, sizes["n_heads"]),
        vocab_size=layout.number("vocab_size"),
        padding_id=layout.token("pad_token_id", 0),
        **LIKE_BERT,
        activation=act,
        layer_norm_eps=1e-12,  # in its code, not in its configuration
        family=Family(name="DistilBERT", **outputs[1]),
        **outputs[0],
    )
    layout.take("embedding.tokens.weight", WORDS)
    layout.take("embedding.position_table", PLACES, (n_stored, config.d_model))
    layout.linear("embedding.norm", "embeddings.LayerNorm")
    for layer in range(n_layers):
        ours, theirs = f"blocks.{layer}", f"transformer.layer.{layer}"
        for part, name in (("w_q", "q_lin"), ("w_k", "k_lin"), ("w_v", "v_lin"), ("w_o", "out_lin")):
            layout.linear(f"{ours}.attention.{part}", f"{theirs}.attention.{name}")
        layout.linear(f"{ours}.norm_attention", f"{theirs}.sa_layer_norm")
        layout.linear(f"{ours}.feed_forward.expand", f"{theirs}.ffn.lin1")
        layout.linear(f"{ours}.feed_forward.contract", f"{theirs}.ffn.lin2")
        layout.linear(f"{ours}.norm_feed_forward", f"{theirs}.output_layer_norm")
    return Reading(config, layout.sources, layout.zeros, layout.notes)
