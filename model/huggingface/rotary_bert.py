"""BERT's blocks with rotary positions: NomicBERT (Nussbaum et al. 2024), GTE (Zhang et al. 2024), and Jina v3 (Sturua et al. 2024)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..family_options import NO_PARTS, LinearMap, Parts
from .bert import BERT, refuse_unmerged
from .family_table import FamilyTable, read_text, rotary
from .output_layers import BERT_OUTPUTS, PREDICTIONS, ROBERTA_OUTPUTS, MaskedTokenLayers, OutputNames
from .tensor_map import Layout, Reading, fused
from .weights import Stored

QKV = ("attention.w_q", "attention.w_k", "attention.w_v")
ROTARY_BERT = replace(
    BERT,
    d_head="head_dim",
    positions=None,
    defaults={"max_position_embeddings": 8192},
)
NOMIC = replace(
    ROTARY_BERT,
    name="NomicBERT",
    defaults={"max_position_embeddings": 2048, "hidden_act": "silu", "rope_theta": 1000.0},
    embedding_norm="emb_ln",
    blocks="encoder.layers",
    block={
        **fused("attn.Wqkv.", QKV),
        "attention.w_o": "attn.out_proj",
        "norm_attention": "norm1",
        "norm_feed_forward": "norm2",
        "feed_forward.expand": "mlp.fc12",
        "feed_forward.gate": "mlp.fc11",
        "feed_forward.contract": "mlp.fc2",
    },
    outputs=replace(BERT_OUTPUTS, masked=PREDICTIONS._replace(norm="cls.predictions.transform.layer_norm")),
)
GTE = replace(
    ROTARY_BERT,
    name="GTE",
    block={
        **fused("attention.qkv_proj.", QKV),
        "attention.w_o": "attention.o_proj",
        "norm_attention": "attn_ln",
        "norm_feed_forward": "mlp_ln",
        **fused("mlp.up_gate_proj.", ("feed_forward.gate", "feed_forward.expand")),
        "feed_forward.contract": "mlp.down_proj",
    },
)
JINA = replace(
    ROTARY_BERT,
    name="Jina v3",
    defaults={"max_position_embeddings": 8194, "rope_theta": 20_000.0, "layer_norm_eps": 1e-5},
    embedding_norm="emb_ln",
    blocks="encoder.layers",
    block={
        **fused("mixer.Wqkv.", QKV),
        "attention.w_o": "mixer.out_proj",
        "norm_attention": "norm1",
        "norm_feed_forward": "norm2",
        "feed_forward.expand": "mlp.fc1",
        "feed_forward.contract": "mlp.fc2",
    },
    outputs=ROBERTA_OUTPUTS,
)
# The names that `transformers` has in memory, for all three.
IN_MEMORY = {
    **{f"attention.w_{letter}": f"self_attn.{letter}_proj" for letter in "qkvo"},
    "norm_attention": "post_attention_layernorm",
    "norm_feed_forward": "post_mlp_layernorm",
}
GATED_IN_MEMORY = {
    "feed_forward.expand": "mlp.gate_proj",
    "feed_forward.gate": "mlp.up_proj",
    "feed_forward.contract": "mlp.down_proj",
}
AUTHORS_NAMES = {  # of NomicBERT's settings, by those of `transformers`
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "max_trained_positions",
    "layer_norm_eps": "layer_norm_epsilon",
    "rope_theta": "rotary_emb_base",
}
NOMIC_VALUES: dict[str, tuple[object, ...]] = {  # that are supported, of its authors' settings
    "activation_function": ("swiglu",),
    "causal": (False,),
    "mlp_fc1_bias": (False,),
    "mlp_fc2_bias": (False,),
    "moe_every_n_layers": (0, None),
    "parallel_block": (False,),
    "prenorm": (False,),
    "qkv_proj_bias": (False,),
    "rotary_emb_fraction": (1.0,),
    "rotary_emb_interleaved": (False,),
    "rotary_emb_scale_base": (None,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "scale_attn_weights": (True,),
    "use_rms_norm": (False, None),
}
GTE_VALUES: dict[str, tuple[object, ...]] = {
    "layer_norm_type": ("layer_norm",),
    "logn_attention_scale": (False,),
    "pack_qkv": (True,),
    "position_embedding_type": ("rope",),
}


def read_nomic(values: Mapping[str, Any], stored: Stored) -> Reading:
    authors_values = {ours: values[theirs] for ours, theirs in AUTHORS_NAMES.items() if theirs in values}
    layout = NOMIC.layout({**authors_values, **values}, stored)
    layout.refuse_other_values(NOMIC_VALUES)
    without_bias: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v", "w_o", "expand", "gate", "contract")
    return _read(layout, NOMIC, Parts(gated=True, without_bias=without_bias))


def read_gte(values: Mapping[str, Any], stored: Stored) -> Reading:
    base = 160_000.0 if values.get("model_type") == "gte" else 10_000.0
    table = replace(GTE, defaults={**GTE.defaults, "rope_theta": base})
    layout = table.layout(values, stored)
    layout.refuse_other_values(GTE_VALUES)
    norm = "norm" if layout.output_tensor_name("lm_head.norm.weight") else "layer_norm"
    masked = MaskedTokenLayers("lm_head.dense", f"lm_head.{norm}", ("lm_head.decoder.bias",), "gelu")
    table = replace(table, outputs=OutputNames(pooler="pooler.dense", masked=masked))
    return _read(layout, table, Parts(gated=True, without_bias=("expand", "gate")))


def read_jina(values: Mapping[str, Any], stored: Stored) -> Reading:
    refuse_unmerged(stored)
    layout = JINA.layout(values, stored)
    layout.notes.append("Adapters for single tasks, if there are any, are not applied.")
    return _read(layout, JINA, NO_PARTS)


def _read(layout: Layout, table: FamilyTable, parts: Parts) -> Reading:
    """Reads an encoder whose tensors have the names that are saved, or those that `transformers` has in memory."""
    layout.family["parts"] = replace(parts, rotary=rotary(layout, table.sizes(layout)))
    if layout.has_tensor("layers.0.post_attention_layernorm.weight"):
        block = {**table.block, **IN_MEMORY, **(GATED_IN_MEMORY if parts.gated else {})}
        table = replace(table, blocks="layers", block=block, embedding_norm="embeddings.LayerNorm")
    return read_text(layout, table)
