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
    """Configuration and tensor map of an encoder that consists of BERT's blocks. Raises ValueError for an unsupported variant."""
    refuse_variants(layout)
    layer_prefixes = [f"encoder.layer.{layer}" for layer in range(layout.n_layers("num_hidden_layers"))]
    part_names, final_norm = _block_names(layout, layer_prefixes[0])
    outputs.family = replace(outputs.family, name=name, d_embedding=d_embedding)
    return read_text_encoder(
        layout,
        outputs,
        layer_prefixes,
        part_names,
        first_position=first_position,
        padding_id=layout.token_id("pad_token_id"),
        embedding_norm=layout.has_tensor("embeddings.LayerNorm.weight"),
        final_norm=final_norm,
    )


def read_text_encoder(
    layout: Layout,
    outputs: Outputs,
    layer_prefixes: Sequence[str],
    part_names: Mapping[str, str],
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
    """The configuration of a text encoder, and the stored tensor of each of its parameters.

    `layer_prefixes` are the names of the blocks in the file; `part_names` maps the model's name of each part of a block to
    the name in the file. `d_model`, `n_heads` and `d_ff` are the keys under which config.json holds these sizes. Rows of
    the position table before `first_position` are skipped. `final_norm` is the name in the file of the norm after the last
    block, None in post-LN.
    """
    widths = layout.widths(layout.whole_number(d_model), layout.whole_number(n_heads))
    n_stored = layout.whole_number("max_position_embeddings")
    n_types = layout.whole_number("type_vocab_size", 0) if layout.has_tensor(TYPES) else 0
    family = replace(outputs.family, n_token_types=n_types)
    placement: NormPlacement = "pre" if final_norm else "post"
    config = ModelConfig(
        d_model=widths.d_model,
        n_heads=widths.n_heads,
        d_k=widths.d_head,
        d_v=widths.d_head,
        n_layers=len(layer_prefixes),
        d_ff=layout.whole_number(d_ff),
        n_positions=layout.n_positions(n_stored, len(layer_prefixes), widths.n_heads, first_position),
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=padding_id,
        norm_placement=placement,
        final_norm=final_norm is not None,
        embedding_norm=embedding_norm,
        positions="learned",
        activation=activation or layout.activation(),
        layer_norm_eps=layer_norm_eps or layout.real_number("layer_norm_eps", 1e-12),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=family,
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    embedding_width = family.d_embedding or config.d_model
    layout.map_tensor("embedding.position_table", POSITIONS, (n_stored, embedding_width), first_position)
    if n_types:
        layout.map_tensor("embedding.types.weight", TYPES)
    if config.embedding_norm:
        layout.map_linear(
            "embedding.norm.0" if family.d_embedding else "embedding.norm", "embeddings.LayerNorm"
        )
    layout.map_blocks(layer_prefixes, part_names)
    if final_norm:
        layout.map_linear("final_norm", final_norm)
    return layout.reading(config)


def refuse_variants(layout: Layout) -> None:
    """Raises ValueError for decoders, and for positions that are not added to the embedding."""
    refuse_decoder(layout)
    position_kind = layout.values.get("position_embedding_type", "absolute")
    if position_kind != "absolute":
        raise ValueError(
            f"its position_embedding_type is {shortened(position_kind)}, but only 'absolute' is supported"
        )


def refuse_decoder(layout: Layout) -> None:
    if layout.values.get("is_decoder") or layout.values.get("add_cross_attention"):
        raise ValueError("this is a decoder, but only encoders are supported")


def _block_names(layout: Layout, first_block: str) -> tuple[Mapping[str, str], str | None]:
    """Names in the file of a block's parts, by the model's names, and of the norm after the last block (None in post-LN).

    The names of the norms in the block `first_block` tell which layout the encoder has.
    """
    if layout.has_tensor(f"{first_block}.attention.output.LayerNorm.weight"):
        return BLOCK, None
    for norm, names in PRE_NORM_BLOCKS.items():
        if layout.has_tensor(f"{first_block}.{norm}"):
            return names
    raise ValueError(f"{layout.prefix}{first_block}.attention.output.LayerNorm.weight is missing")
