"""Reads weights of `torch.nn.TransformerEncoder`, with a small `config.json` for the settings that weights do not show.

    {"model_type": "torch.nn.TransformerEncoder", "n_heads": 4, "norm_first": false, "activation": "relu",
     "vocab_size": 6000, "names": {"embedding": "tok.weight", "positions": "pos", "classifier": "head"}}

The encoder's layers are found by their names ("layers.0.self_attn.in_proj_weight"), after any prefix, with or without
biases. Layers before and after the encoder are the user's own: `names` holds the names of the embedding, of the positions
(sinusoids if there is no name; a parameter or a buffer, [position, d_model] with axes of length 1 anywhere), of a norm after
their sum ("embedding_norm"), and of the classifier.
"""

import math
from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig, Pooling
from ..family_options import Family, LinearMap, Parts
from ..files.errors import single_line
from ..schema import convert
from .family_table import FamilyTable
from .tensor_map import MOST_LAYERS, QKV, Reading, ReadingBuilder, Source, fused_rows
from .weights import Stored

MODEL_TYPE = "torch.nn.TransformerEncoder"
LAYERS = FamilyTable(
    name=MODEL_TYPE,
    known_tensor="layers.0.self_attn.in_proj_weight",
    n_heads="n_heads",
    padding_id="padding_id",
    activation="activation",
    defaults={"activation": "relu", "layer_norm_eps": 1e-5, "n_positions": 512},
    blocks="layers",
    block={
        **fused_rows("self_attn.in_proj_", QKV),
        "attention.w_o": "self_attn.out_proj",
        "feed_forward.expand": "linear1",
        "feed_forward.contract": "linear2",
    },
)
NORMS = {"norm_attention": "norm1", "norm_feed_forward": "norm2"}
LINEAR_MAPS: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v", "w_o", "expand", "contract")
OUTER_TENSORS = ("embedding", "positions", "embedding_norm", "classifier")


def read_torch_encoder(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a `torch.nn.TransformerEncoder`. Raises ValueError if `values` and tensors do not fit."""
    builder = LAYERS.builder(values, stored)
    names = values.get("names", {})
    if not isinstance(names, dict) or set(names) - set(OUTER_TENSORS):
        raise ValueError(
            f"names must say which tensors are {', '.join(OUTER_TENSORS)}, got {shortened(names)}"
        )
    outer_names = {key: str(name) for key, name in names.items()}
    n_layers = sum(
        builder.has_tensor(f"layers.{layer}.self_attn.in_proj_weight") for layer in range(MOST_LAYERS)
    )
    d_model = _shape_with_two_axes(stored, builder.prefix + LAYERS.known_tensor)[-1]
    d_ff = _shape_with_two_axes(stored, f"{builder.prefix}layers.0.linear1.weight")[0]
    embedding_name = outer_names.get("embedding", "embedding.weight")
    vocab_size, table_shape = _shape_with_two_axes(stored, embedding_name)[0], None
    if "positions" in outer_names:
        table_shape = _shape_with_two_axes(stored, outer_names["positions"])
        if table_shape[-1] != d_model or sum(length > 1 for length in table_shape[:-1]) > 1:
            raise ValueError(
                f"{outer_names['positions']} has shape {table_shape}, but should hold {d_model} numbers for each position"
            )
    n_stored = math.prod(table_shape[:-1]) if table_shape else builder.whole_number("n_positions")
    n_heads = builder.whole_number("n_heads")
    d_head, classifier = builder.head_width(d_model, n_heads), outer_names.get("classifier")
    labels = builder.class_labels(builder.n_output_rows(f"{classifier}.weight")) if classifier else ()
    has_bias = builder.has_tensor("layers.0.self_attn.in_proj_bias")
    config = ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_k=d_head,
        d_v=d_head,
        n_layers=n_layers,
        d_ff=d_ff,
        n_positions=builder.n_positions(n_stored, n_layers, n_heads),
        vocab_size=vocab_size,
        padding_id=builder.token_id("padding_id"),
        class_names=labels,
        norm_placement="pre" if builder.flag("norm_first", False) else "post",
        final_norm=builder.has_tensor("norm.weight"),
        embedding_norm="embedding_norm" in outer_names,
        embedding_scaled=builder.flag("embedding_scaled", False),
        positions="learned" if table_shape else "sinusoidal",
        pooling=convert(values.get("pooling", "mean"), Pooling, "pooling"),
        activation=builder.activation("activation"),
        layer_norm_eps=builder.real_number("layer_norm_eps"),
        family=Family(name=MODEL_TYPE, parts=Parts(without_bias=() if has_bias else LINEAR_MAPS)),
    )
    builder.sources["embedding.tokens.weight"] = Source(embedding_name)
    if table_shape:
        builder.sources["embedding.position_table"] = Source(outer_names["positions"], table_shape)
    if config.embedding_norm:
        _map_outer_layer(builder, "embedding.norm", outer_names["embedding_norm"])
    if classifier:
        _map_outer_layer(builder, "classifier", classifier)
    blocks = LAYERS.block_names(n_layers)
    builder.map_blocks(blocks, LAYERS.block, config)
    for layer, block in enumerate(blocks):
        for ours, theirs in NORMS.items():
            _map_norm(builder, f"blocks.{layer}.{ours}", f"{block}.{theirs}")
    if config.final_norm:
        _map_norm(builder, "final_norm", "norm")
    if not table_shape:
        _note_tables(builder, d_model)
    return builder.reading(config)


def _note_tables(builder: ReadingBuilder, d_model: int) -> None:
    """Adds a note on tensors that may be position tables, if config.json names no positions."""
    used = {source.name for source in builder.sources.values()}
    tables = [
        name
        for name, shape in sorted(builder.stored.shapes.items())
        if name not in used and len(shape) > 1 and shape[-1] == d_model
    ]
    if tables:
        builder.notes.append(
            f"config.json names no positions, so sinusoids are added; {', '.join(map(single_line, tables[:3]))} is not read. "
            'If it holds the positions: "names": {"positions": …}.'
        )


def _map_norm(builder: ReadingBuilder, norm: str, stored_norm: str) -> None:
    """Maps a norm to `stored_norm` in the file; its bias is zeros if none is stored (`bias=False`)."""
    has_bias = builder.has_tensor(f"{stored_norm}.bias")
    builder.map_linear(norm, stored_norm, has_bias=has_bias)
    if not has_bias:
        builder.zeros.append(f"{norm}.bias")


def _map_outer_layer(builder: ReadingBuilder, layer: str, stored_layer: str) -> None:
    """Maps weight and bias of `layer` to those of `stored_layer`, whose name has no prefix, such as the classifier."""
    for parameter in ("weight", "bias"):
        builder.sources[f"{layer}.{parameter}"] = Source(f"{stored_layer}.{parameter}")


def _shape_with_two_axes(stored: Stored, name: str) -> tuple[int, ...]:
    """Shape of the stored tensor `name`. Raises ValueError if it is missing or a vector."""
    if name not in stored.shapes:
        raise ValueError(f"{name} is missing from the weights")
    if len(shape := stored.shapes[name]) < 2:
        raise ValueError(f"{name} has shape {shape}, but should have two axes")
    return shape
