"""ESM-2 (Lin et al. 2023) and ESM-1b (Rives et al. 2021), encoders of proteins: rotary or learned positions, norms first."""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..family_options import NO_PARTS, Parts, Rotary
from .bert import BLOCK, POSITIONS, TOKENS, refuse_decoder
from .output_layers import LM_HEAD, read_outputs
from .rotary_settings import head_width, rotary_base
from .tensor_map import Layout, Reading
from .weights import Stored

ESM_BLOCK = BLOCK | {"norm_attention": "attention.LayerNorm", "norm_feed_forward": "LayerNorm"}
# one for all layers, under the names that newer and older versions of `transformers` give it
FREQUENCIES = (
    "rotary_embeddings.inv_freq",
    "encoder.layer.*.attention.self.rotary_embeddings.inv_freq",
    "encoder.layer.0.attention.self.rotary_embeddings.inv_freq",
)


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    refuse_decoder(layout)
    if layout.flag("is_folding_model", False):
        raise ValueError(
            "this is ESMFold, whose structure module is not supported; open the ESM-2 encoder inside it"
        )
    outputs = read_outputs(layout, pooler="pooler.dense", hidden=("classifier.dense", "tanh"), masked=LM_HEAD)
    n_layers = layout.n_layers("num_hidden_layers")
    d_model, n_heads, d_head = layout.widths(
        layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads")
    )
    n_stored, padding_id = (
        layout.whole_number("max_position_embeddings", 1026),
        layout.token_id("pad_token_id"),
    )
    position_kind = layout.values.get("position_embedding_type") or "absolute"
    if position_kind not in ("absolute", "rotary"):
        raise ValueError(
            f"its position_embedding_type is {shortened(position_kind)}; supported are 'absolute' and 'rotary'"
        )
    is_rotary, first_position, parts = position_kind == "rotary", 0, NO_PARTS
    if is_rotary:
        parts = _rotary_parts(layout, n_layers, head_width(layout, d_model, n_heads))
    else:
        first_position = 1 + (padding_id or 0)  # as its code counts
        layout.map_tensor("embedding.position_table", POSITIONS, (n_stored, d_model), first_position)
    has_embedding_norm = layout.flag("emb_layer_norm_before", False)
    config = ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_k=d_head,
        d_v=d_head,
        n_layers=n_layers,
        d_ff=layout.whole_number("intermediate_size"),
        n_positions=layout.n_positions(n_stored, n_layers, n_heads, first_position),
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=padding_id,
        norm_placement="pre",
        embedding_norm=has_embedding_norm,
        positions="none" if is_rotary else "learned",
        activation="gelu",  # whatever config.json says
        layer_norm_eps=layout.real_number("layer_norm_eps", 1e-12),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=replace(
            outputs.family,
            name="ESM-2" if is_rotary else "ESM-1b",
            parts=parts,
            zeroed_token_id=_zeroed_token_id(layout),
        ),
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    if has_embedding_norm:
        layout.map_linear("embedding.norm", "embeddings.layer_norm")
    layout.map_blocks([f"encoder.layer.{layer}" for layer in range(n_layers)], ESM_BLOCK)
    layout.map_linear("final_norm", "encoder.emb_layer_norm_after")
    if layout.has_tensor("contact_head.regression.weight"):
        layout.notes.append("Its contact head, which predicts which residues touch, is left out.")
    return layout.reading(config)


def _rotary_parts(layout: Layout, n_layers: int, d_head: int) -> Parts:
    """Rotary positions, with the frequencies in the weights if they are stored: some were rounded before the training."""
    name = next(filter(layout.has_tensor, FREQUENCIES), None)
    if name is not None:
        for layer in range(n_layers):
            for vector in "qk":
                layout.map_tensor(
                    f"blocks.{layer}.attention.{vector}.stored_frequencies", name, (d_head // 2,)
                )
    bases = (rotary_base(layout, 10_000.0),) * n_layers
    return Parts(rotary=Rotary(bases=bases, stored_frequencies=name is not None))


def _zeroed_token_id(layout: Layout) -> int | None:
    """The id of the mask, if `token_dropout` is set; None otherwise. Raises ValueError if it is not named."""
    if not layout.flag("token_dropout", False):
        return None
    token_id = layout.token_id("mask_token_id")
    if token_id is None or token_id < 0:
        raise ValueError(f"config.json has token_dropout, but mask_token_id {token_id}")
    return token_id
