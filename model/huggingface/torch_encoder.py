"""Weights of `torch.nn.TransformerEncoder`, with a small `config.json` that says what the weights cannot.

    {"model_type": "torch.nn.TransformerEncoder", "n_heads": 4, "norm_first": false, "activation": "relu",
     "vocab_size": 6000, "names": {"embedding": "tok.weight", "positions": "pos", "classifier": "head"}}

The layers are found by their names ("layers.0.self_attn.in_proj_weight"), with anything before them. The layers before
and after it are the user's own: `names` says which of their tensors are the embedding, the positions (if not named:
sinusoids), a norm after their sum ("embedding_norm"), and the classifier.
"""

from collections.abc import Mapping
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig, Pooling
from ..family_options import Family
from ..schema import convert
from .tensor_map import MOST_LAYERS, Layout, Reading, Source
from .weights import Stored

MODEL_TYPE = "torch.nn.TransformerEncoder"
FIRST = "layers.0.self_attn.in_proj_weight"
BLOCK = {
    "attention.w_o": "self_attn.out_proj",
    "feed_forward.expand": "linear1",
    "feed_forward.contract": "linear2",
    "norm_attention": "norm1",
    "norm_feed_forward": "norm2",
}
AROUND = ("embedding", "positions", "embedding_norm", "classifier")


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, FIRST)
    names = values.get("names", {})
    if not isinstance(names, dict) or set(names) - set(AROUND):
        raise ValueError(f"names must say which tensors are {', '.join(AROUND)}, got {shortened(names)}")
    around = {key: str(name) for key, name in names.items()}
    n_layers = sum(
        layout.has_tensor(f"layers.{layer}.self_attn.in_proj_weight") for layer in range(MOST_LAYERS)
    )
    d = _shape(stored, layout.prefix + FIRST)[-1]
    d_ff = _shape(stored, f"{layout.prefix}layers.0.linear1.weight")[0]
    vocab_size, table = _shape(stored, around.get("embedding", "embedding.weight"))[0], None
    if "positions" in around:
        table = _shape(stored, around["positions"])
        if table[-1] != d or any(n != 1 for n in table[:-2]):
            raise ValueError(
                f"{around['positions']} has shape {table}, but should hold {d} numbers for each position"
            )
    n_stored = table[-2] if table else layout.number("n_positions", 512)
    sizes = layout.widths(d, layout.number("n_heads"))
    classifier = around.get("classifier")
    labels = layout.class_labels(layout.n_output_rows(f"{classifier}.weight")) if classifier else ()
    pre = layout.flag("norm_first", False)
    config = ModelConfig(
        d_model=d,
        n_heads=sizes.n_heads,
        d_k=sizes.d_head,
        d_v=sizes.d_head,
        n_layers=n_layers,
        d_ff=d_ff,
        n_positions=layout.n_positions(n_stored, n_layers, sizes.n_heads),
        vocab_size=vocab_size,
        padding_id=layout.token("padding_id"),
        class_names=labels,
        norm_placement="pre" if pre else "post",
        final_norm=layout.has_tensor("norm.weight"),
        embedding_norm="embedding_norm" in around,
        embedding_scaled=layout.flag("embedding_scaled", False),
        positions="learned" if table else "sinusoidal",
        pooling=convert(values.get("pooling", "mean"), Pooling, "pooling"),
        activation=layout.activation("activation", "relu"),
        layer_norm_eps=layout.real("layer_norm_eps", 1e-5),
        family=Family(name=MODEL_TYPE),
    )
    layout.sources["embedding.tokens.weight"] = Source(around.get("embedding", "embedding.weight"))
    if table:
        layout.sources["embedding.position_table"] = Source(around["positions"], table)
    if config.embedding_norm:
        _around(layout, "embedding.norm", around["embedding_norm"])
    if classifier:
        _around(layout, "classifier", classifier)
    layers = [f"layers.{layer}" for layer in range(n_layers)]
    layout.map_blocks(layers, BLOCK)
    for layer, name in enumerate(layers):
        for row, part in enumerate(("w_q", "w_k", "w_v")):  # one above the other in one matrix
            ours, theirs = f"blocks.{layer}.attention.{part}", f"{name}.self_attn.in_proj"
            layout.map_tensor(f"{ours}.weight", f"{theirs}_weight", (3 * d, d), row * d)
            layout.map_tensor(f"{ours}.bias", f"{theirs}_bias", (3 * d,), row * d)
    if config.final_norm:
        layout.map_linear("final_norm", "norm")
    return layout.reading(config)


def _around(layout: Layout, ours: str, theirs: str) -> None:
    for part in ("weight", "bias"):
        layout.sources[f"{ours}.{part}"] = Source(f"{theirs}.{part}")


def _shape(stored: Stored, name: str) -> tuple[int, ...]:
    if name not in stored.shapes:
        raise ValueError(f"{name} is missing from the weights")
    if len(shape := stored.shapes[name]) < 2:
        raise ValueError(f"{name} has shape {shape}, but should have two axes")
    return shape
