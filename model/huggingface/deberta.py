"""DeBERTa v2 and v3 (He et al. 2021): BERT's blocks with disentangled attention."""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..family_options import Act, Disentangled, Parts
from .bert import BLOCK, POSITIONS, TOKENS, TYPES
from .output_layers import MaskedTokenLayers, Outputs, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

DEBERTA_BLOCK = {
    **BLOCK,
    "attention.w_q": "attention.self.query_proj",
    "attention.w_k": "attention.self.key_proj",
    "attention.w_v": "attention.self.value_proj",
}
NEW = "lm_predictions.lm_head"  # the masked-token output of v3
KINDS = ("c2p", "p2c")


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    if _signed_number(layout, "conv_kernel_size", 0) > 0:
        raise ValueError(
            "config.json has a conv_kernel_size: its first layer mixes neighbouring tokens by a convolution beside "
            "attention, which is not supported"
        )
    n_layers = layout.n_layers("num_hidden_layers")
    widths = layout.widths(layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads"))
    if layout.whole_number("attention_head_size", widths.d_head) != widths.d_head:
        raise ValueError(
            "config.json has an attention_head_size other than hidden_size / num_attention_heads"
        )
    n_stored = layout.whole_number("max_position_embeddings", 512)
    disentangled = _disentangled(layout, n_stored)
    d_embedding = layout.whole_number("embedding_size", widths.d_model)
    is_widened = d_embedding != widths.d_model
    adds_positions = layout.flag("position_biased_input", True)
    n_types = layout.whole_number("type_vocab_size", 0)
    outputs = _read_outputs(layout)
    config = ModelConfig(
        d_model=widths.d_model,
        n_heads=widths.n_heads,
        d_k=widths.d_head,
        d_v=widths.d_head,
        n_layers=n_layers,
        d_ff=layout.whole_number("intermediate_size"),
        n_positions=layout.n_positions(n_stored, n_layers, widths.n_heads),
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=layout.token_id("pad_token_id", 0),
        norm_placement="post",
        final_norm=False,
        embedding_norm=True,
        positions="learned" if adds_positions else "none",
        activation=layout.activation(),
        layer_norm_eps=layout.real_number("layer_norm_eps", 1e-7),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=replace(
            outputs.family,
            name="DeBERTa",
            n_token_types=n_types,
            d_embedding=d_embedding if is_widened else None,
            widened_first=is_widened,
            parts=Parts(disentangled=disentangled),
        ),
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    if adds_positions:
        layout.map_tensor("embedding.position_table", POSITIONS, (n_stored, d_embedding))
    if n_types:
        layout.map_tensor("embedding.types.weight", TYPES)
    if is_widened:
        layout.map_linear("embedding.norm.0", "embeddings.embed_proj", bias=False)
    layout.map_linear("embedding.norm.1" if is_widened else "embedding.norm", "embeddings.LayerNorm")
    names = dict(DEBERTA_BLOCK)
    if disentangled is not None:
        layout.map_tensor("relative_positions.vectors.weight", "encoder.rel_embeddings.weight")
        if disentangled.norm:
            layout.map_linear("relative_positions.norm", "encoder.LayerNorm")
        if not disentangled.shared_maps:
            if disentangled.content_to_position:
                names["attention.position_k"] = "attention.self.pos_key_proj"
            if disentangled.position_to_content:
                names["attention.position_q"] = "attention.self.pos_query_proj"
    layout.map_blocks([f"encoder.layer.{layer}" for layer in range(n_layers)], names)
    return layout.reading(config)


def _disentangled(layout: Layout, n_stored: int) -> Disentangled | None:
    """How the encoder scores relative positions; None if it does not."""
    kinds = layout.values.get("pos_att_type") or []
    if isinstance(kinds, str):
        kinds = [kind.strip() for kind in kinds.lower().split("|")]
    if not isinstance(kinds, list) or not all(kind in KINDS for kind in kinds):
        raise ValueError(f"config.json has pos_att_type {shortened(kinds)}; supported are {', '.join(KINDS)}")
    if not layout.flag("relative_attention", False):
        if kinds:
            raise ValueError(
                "config.json has a pos_att_type without relative_attention, which is not supported"
            )
        return None
    if not kinds:
        return None
    furthest, n_buckets = (
        _signed_number(layout, name, -1) for name in ("max_relative_positions", "position_buckets")
    )
    furthest = n_stored if furthest < 1 else furthest
    if n_buckets == 1 or (n_buckets > 1 and furthest - 1 <= n_buckets // 2):
        raise ValueError(
            f"config.json has position_buckets {n_buckets:,}: there must be 2 or more, and half of them must be fewer "
            f"than the {furthest:,} max_relative_positions"
        )
    norm = layout.values.get("norm_rel_ebd", "none")
    norms = {name.strip() for name in norm.lower().split("|")} if isinstance(norm, str) else {""}
    if not norms <= {"none", "layer_norm"}:
        raise ValueError(f"config.json has norm_rel_ebd {shortened(norm)}; supported are none, layer_norm")
    return Disentangled(
        furthest=furthest,
        n_buckets=n_buckets if n_buckets > 1 else None,
        content_to_position="c2p" in kinds,
        position_to_content="p2c" in kinds,
        shared_maps=layout.flag("share_att_key", False),
        norm="layer_norm" in norms,
    )


def _signed_number(layout: Layout, name: str, default: int) -> int:
    """The value of `name`, a whole number that may be negative. Raises ValueError for anything else."""
    value = layout.values.get(name, default)
    return default if type(value) is int and value < 0 else layout.whole_number(name, max(default, 0))


def _read_outputs(layout: Layout) -> Outputs:
    """Maps the tensors of the output layers; of the two layouts of the masked-token output it takes the one that was trained."""
    has_detector = layout.output_tensor_name("mask_predictions.dense.weight") is not None
    # a discriminator's file (v3) has the other one as well, which its training left as it was
    is_legacy = layout.flag("legacy", has_detector or not layout.output_tensor_name(f"{NEW}.dense.weight"))
    act = layout.activation()
    masked = (
        MaskedTokenLayers(
            "cls.predictions.transform.dense",
            "cls.predictions.transform.LayerNorm",
            ("cls.predictions.bias", "cls.predictions.decoder.bias"),
            act,
        )
        if is_legacy
        else MaskedTokenLayers(f"{NEW}.dense", f"{NEW}.LayerNorm", (f"{NEW}.bias",), act)
    )
    pooler_act: Act = "tanh"
    if layout.values.get("pooler_hidden_act") != "tanh":
        pooler_act = layout.activation("pooler_hidden_act")
    outputs = read_outputs(layout, hidden=("pooler.dense", pooler_act), masked=masked)
    if outputs.masked_token_output and not is_legacy:  # which reads the embedding, whatever config.json says
        layout.sources.pop("masked_token_output.decoder.weight", None)
        outputs.family = replace(outputs.family, tied_output=True)
    return outputs
