"""BERT (Devlin et al. 2019), and what is built just like it: RoBERTa, XLM-R, CamemBERT, ELECTRA.

They differ in where positions begin, in the width of the embedding, and in their output layers.
"""

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..family_options import Family
from .output_layers import read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

WORDS, PLACES = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, WORDS)
    outputs = read_outputs(
        layout,
        pooler="pooler.dense",
        masked=(
            "cls.predictions.transform.dense",
            "cls.predictions.transform.LayerNorm",
            ("cls.predictions.bias", "cls.predictions.decoder.bias"),
            layout.act(),
        ),
    )
    return reading(layout, "BERT", outputs)


def reading(
    layout: Layout,
    name: str,
    outputs: tuple[dict[str, Any], dict[str, Any]],
    *,
    first_position: int = 0,
    **family: Any,
) -> Reading:
    """The trunk that all of them share. Raises ValueError where a part is of a kind that is not supported."""
    refuse_variants(layout)
    n_layers = layout.layers("num_hidden_layers")
    sizes = layout.widths(layout.number("hidden_size"), layout.number("num_attention_heads"))
    stored = layout.number("max_position_embeddings")
    width = family.get("d_embedding") or sizes["d_model"]
    placement = _norms(layout, n_layers)
    n_types = layout.number("type_vocab_size", 0) if layout.has(TYPES) else 0
    config = ModelConfig(
        **sizes,
        n_layers=n_layers,
        d_ff=layout.number("intermediate_size"),
        n_positions=layout.positions(stored, n_layers, sizes["n_heads"], first_position),
        vocab_size=layout.number("vocab_size"),
        padding_id=layout.token("pad_token_id"),
        norm_placement=placement,
        final_norm=placement == "pre",
        embedding_norm=layout.has("embeddings.LayerNorm.weight"),
        positions="learned",
        activation=layout.act(),
        layer_norm_eps=layout.real("layer_norm_eps", 1e-12),
        family=Family(name=name, n_token_types=n_types, **family, **outputs[1]),
        **outputs[0],
    )
    layout.take("embedding.tokens.weight", WORDS)
    layout.take("embedding.position_table", PLACES, (stored, width), first_position)
    if n_types:
        layout.take("embedding.types.weight", TYPES)
    if config.embedding_norm:
        norm = "embedding.norm.0" if config.family.d_embedding else "embedding.norm"
        layout.linear(norm, "embeddings.LayerNorm")
    for layer in range(n_layers):
        _block(layout, layer, placement)
    return Reading(config, layout.sources, layout.zeros, layout.notes)


def refuse_variants(layout: Layout) -> None:
    if layout.values.get("is_decoder") or layout.values.get("add_cross_attention"):
        raise ValueError("this is a decoder, but only encoders are supported")
    kind = layout.values.get("position_embedding_type", "absolute")
    if kind != "absolute":
        raise ValueError(
            f"its position_embedding_type is {shortened(kind)}, but only 'absolute' is supported"
        )


def _norms(layout: Layout, n_layers: int) -> str:
    """Where the norms stand, by their names: after each sublayer, or before it with one more at the end."""
    first = "encoder.layer.0"
    if layout.has(f"{first}.attention.output.LayerNorm.weight") or not n_layers:
        return "post"
    if layout.has(f"{first}.attention.LayerNorm.weight") or layout.has(f"{first}.attention.ln.weight"):
        return "pre"
    raise ValueError(f"{layout.prefix}{first}.attention.output.LayerNorm.weight is missing")


def _block(layout: Layout, layer: int, placement: str) -> None:
    ours, theirs = f"blocks.{layer}", f"encoder.layer.{layer}"
    for part, name in (("w_q", "query"), ("w_k", "key"), ("w_v", "value")):
        layout.linear(f"{ours}.attention.{part}", f"{theirs}.attention.self.{name}")
    layout.linear(f"{ours}.attention.w_o", f"{theirs}.attention.output.dense")
    layout.linear(f"{ours}.feed_forward.expand", f"{theirs}.intermediate.dense")
    layout.linear(f"{ours}.feed_forward.contract", f"{theirs}.output.dense")
    if placement == "post":
        norms, final = ("attention.output.LayerNorm", "output.LayerNorm"), None
    elif layout.has(f"{theirs}.attention.ln.weight"):  # Megatron-BERT
        norms, final = ("attention.ln", "ln"), "encoder.ln"
    else:  # RoBERTa-PreLayerNorm
        norms, final = ("attention.LayerNorm", "intermediate.LayerNorm"), "LayerNorm"
    layout.linear(f"{ours}.norm_attention", f"{theirs}.{norms[0]}")
    layout.linear(f"{ours}.norm_feed_forward", f"{theirs}.{norms[1]}")
    if final:
        layout.linear("final_norm", final)
