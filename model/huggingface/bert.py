"""BERT (Devlin et al. 2019), and the text encoders that differ from it in names, embedding and output layers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig, NormPlacement
from ..family_options import Activation
from .output_layers import MaskedTokenLayers, Outputs, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

TOKENS, POSITIONS = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"
BLOCK = {
    "attention.w_q": "attention.self.query",
    "attention.w_k": "attention.self.key",
    "attention.w_v": "attention.self.value",
    "attention.w_o": "attention.output.dense",
    "norm_attention": "attention.output.LayerNorm",
    "feed_forward.expand": "intermediate.dense",
    "feed_forward.contract": "output.dense",
    "norm_feed_forward": "output.LayerNorm",
}
# By the norm that only they have: the blocks of encoders with norms before each sublayer, and their last norm.
PRE_NORM_BLOCKS = {
    "attention.LayerNorm.weight": (  # RoBERTa-PreLayerNorm
        BLOCK | {"norm_attention": "attention.LayerNorm", "norm_feed_forward": "intermediate.LayerNorm"},
        "LayerNorm",
    ),
    "attention.ln.weight": (  # Megatron-BERT
        BLOCK | {"norm_attention": "attention.ln", "norm_feed_forward": "ln"},
        "encoder.ln",
    ),
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    masked = MaskedTokenLayers(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        ("cls.predictions.bias", "cls.predictions.decoder.bias"),
        layout.activation(),
    )
    return read_like_bert(layout, "BERT", read_outputs(layout, pooler="pooler.dense", masked=masked))


def read_like_bert(
    layout: Layout, name: str, outputs: Outputs, *, first_position: int = 0, d_embedding: int | None = None
) -> Reading:
    """An encoder of BERT's blocks. Raises ValueError where a part is of a kind that is not supported."""
    refuse_variants(layout)
    layers = [f"encoder.layer.{layer}" for layer in range(layout.layers("num_hidden_layers"))]
    block, final_norm = _block_names(layout, layers[0])
    outputs.family = replace(outputs.family, name=name, d_embedding=d_embedding)
    return read_text_encoder(
        layout,
        outputs,
        layers,
        block,
        first_position=first_position,
        padding_id=layout.token("pad_token_id"),
        embedding_norm=layout.has_tensor("embeddings.LayerNorm.weight"),
        final_norm=final_norm,
    )


def read_text_encoder(
    layout: Layout,
    outputs: Outputs,
    layers: Sequence[str],
    block: Mapping[str, str],
    *,
    d_model: str = "hidden_size",
    n_heads: str = "num_attention_heads",
    d_ff: str = "intermediate_size",
    activation: Activation | None = None,
    layer_norm_eps: float | None = None,
    padding_id: int | None,
    first_position: int = 0,
    embedding_norm: bool = True,
    final_norm: str | None = None,
) -> Reading:
    """Maps embedding and blocks; `outputs.family` says what else the family has.

    `layers` are the stored names of the blocks, `block` those of the parts in each by ours; `d_model`, `n_heads` and
    `d_ff` are keys of config.json. Positions before the `first_position` are not read. With a `final_norm` norms stand
    before each sublayer.
    """
    sizes = layout.widths(layout.number(d_model), layout.number(n_heads))
    n_stored = layout.number("max_position_embeddings")
    n_types = layout.number("type_vocab_size", 0) if layout.has_tensor(TYPES) else 0
    family = replace(outputs.family, n_token_types=n_types)
    placement: NormPlacement = "pre" if final_norm else "post"
    config = ModelConfig(
        d_model=sizes.d_model,
        n_heads=sizes.n_heads,
        d_k=sizes.d_head,
        d_v=sizes.d_head,
        n_layers=len(layers),
        d_ff=layout.number(d_ff),
        n_positions=layout.n_positions(n_stored, len(layers), sizes.n_heads, first_position),
        vocab_size=layout.number("vocab_size"),
        padding_id=padding_id,
        norm_placement=placement,
        final_norm=final_norm is not None,
        embedding_norm=embedding_norm,
        positions="learned",
        activation=activation or layout.activation(),
        layer_norm_eps=layer_norm_eps or layout.real("layer_norm_eps", 1e-12),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=family,
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    width = family.d_embedding or config.d_model
    layout.map_tensor("embedding.position_table", POSITIONS, (n_stored, width), first_position)
    if n_types:
        layout.map_tensor("embedding.types.weight", TYPES)
    if config.embedding_norm:
        layout.map_linear(
            "embedding.norm.0" if family.d_embedding else "embedding.norm", "embeddings.LayerNorm"
        )
    layout.map_blocks(layers, block)
    if final_norm:
        layout.map_linear("final_norm", final_norm)
    return layout.reading(config)


def refuse_variants(layout: Layout) -> None:
    """Raises ValueError for decoders, and for positions that are not added to the embedding."""
    if layout.values.get("is_decoder") or layout.values.get("add_cross_attention"):
        raise ValueError("this is a decoder, but only encoders are supported")
    kind = layout.values.get("position_embedding_type", "absolute")
    if kind != "absolute":
        raise ValueError(
            f"its position_embedding_type is {shortened(kind)}, but only 'absolute' is supported"
        )


def _block_names(layout: Layout, first: str) -> tuple[Mapping[str, str], str | None]:
    """Names of the parts of each block, and of the norm after the last where there is one, by the norms of the `first`."""
    if layout.has_tensor(f"{first}.attention.output.LayerNorm.weight"):
        return BLOCK, None
    for norm, names in PRE_NORM_BLOCKS.items():
        if layout.has_tensor(f"{first}.{norm}"):
            return names
    raise ValueError(f"{layout.prefix}{first}.attention.output.LayerNorm.weight is missing")
