"""BERT (Devlin et al. 2019), and encoders of its blocks that differ in names, embedding and output layers: ERNIE, Megatron-BERT,
RoBERTa (Liu et al. 2019), XLM-R, CamemBERT, DistilBERT (Sanh et al. 2019), ELECTRA (Clark et al. 2020), ALBERT (Lan et al. 2020).
With rotary positions: NomicBERT (Nussbaum et al. 2024), GTE (Zhang et al. 2024), and Jina v3 (Sturua et al. 2024).
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..family_options import NO_PARTS, LinearMap, Parts
from .family_table import FamilyTable, read_text, refuse_decoder, rotary
from .output_layers import BERT_OUTPUTS, PREDICTIONS, ROBERTA_OUTPUTS, MaskedTokenLayers, OutputNames
from .tensor_map import FULLY_CONNECTED, GATED, QKV, Reading, ReadingBuilder, fused_rows
from .weights import Stored

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
BERT = FamilyTable(name="BERT", block=BLOCK, outputs=BERT_OUTPUTS)
# By the norm that only they have: the blocks of encoders with norms before each sublayer, and their last norm.
PRE_NORM = {
    "attention.LayerNorm": ("intermediate.LayerNorm", "LayerNorm"),  # RoBERTa-PreLayerNorm
    "attention.ln": ("ln", "encoder.ln"),  # Megatron-BERT
}
ROBERTA = replace(BERT, name="RoBERTa", outputs=ROBERTA_OUTPUTS)
ROBERTA_NAMES = {
    "xlm-roberta": "XLM-RoBERTa",
    "camembert": "CamemBERT",
    "roberta-prelayernorm": "RoBERTa-PreLayerNorm",
    "data2vec-text": "data2vec",
}
DISTILBERT = FamilyTable(
    name="DistilBERT",
    d_model="dim",
    n_layers="n_layers",
    n_heads="n_heads",
    d_ff="hidden_dim",
    activation="activation",
    layer_norm_eps=1e-12,
    defaults={"pad_token_id": 0},
    blocks="transformer.layer",
    block={
        **{f"attention.w_{letter}": f"attention.{letter}_lin" for letter in "qkv"},
        "attention.w_o": "attention.out_lin",
        "norm_attention": "sa_layer_norm",
        "feed_forward.expand": "ffn.lin1",
        "feed_forward.contract": "ffn.lin2",
        "norm_feed_forward": "output_layer_norm",
    },
    outputs=OutputNames(
        hidden=("pre_classifier", "relu"),
        masked=MaskedTokenLayers("vocab_transform", "vocab_layer_norm", ("vocab_projector.bias",)),
    ),
)
DISCRIMINATOR = "discriminator_predictions"
ELECTRA = replace(
    BERT,
    name="ELECTRA",
    widening="embeddings_project",
    outputs=OutputNames(
        hidden=("classifier.dense", "gelu"),
        masked=MaskedTokenLayers(
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
            ("generator_lm_head.bias",),
            "gelu",
        ),
    ),
)
ALBERT = replace(
    BERT,
    name="ALBERT",
    defaults={"embedding_size": 128, "hidden_act": "gelu_new", "pad_token_id": 0},
    widening="encoder.embedding_hidden_mapping_in",
    block={
        "attention.w_q": "attention.query",
        "attention.w_k": "attention.key",
        "attention.w_v": "attention.value",
        "attention.w_o": "attention.dense",
        "norm_attention": "attention.LayerNorm",
        "feed_forward.expand": "ffn",
        "feed_forward.contract": "ffn_output",
        "norm_feed_forward": "full_layer_layer_norm",
    },
    outputs=OutputNames(
        pooler="pooler",
        masked=MaskedTokenLayers(
            "predictions.dense", "predictions.LayerNorm", ("predictions.bias", "predictions.decoder.bias")
        ),
    ),
    shares_layers=True,
)
NOT_MERGED = (
    "its weights are stored beside adapters for each task; open jinaai/jina-embeddings-v3-hf, which holds them alone, "
    "or merge an adapter first"
)
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
        **fused_rows("attn.Wqkv.", QKV),
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
        **fused_rows("attention.qkv_proj.", QKV),
        "attention.w_o": "attention.o_proj",
        "norm_attention": "attn_ln",
        "norm_feed_forward": "mlp_ln",
        **fused_rows("mlp.up_gate_proj.", ("feed_forward.gate", "feed_forward.expand")),
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
        **fused_rows("mixer.Wqkv.", QKV),
        **FULLY_CONNECTED,
        "attention.w_o": "mixer.out_proj",
        "norm_attention": "norm1",
        "norm_feed_forward": "norm2",
    },
    outputs=ROBERTA_OUTPUTS,
)
# The names that `transformers` has in memory, for all three.
IN_MEMORY = {
    **{f"attention.w_{letter}": f"self_attn.{letter}_proj" for letter in "qkvo"},
    "norm_attention": "post_attention_layernorm",
    "norm_feed_forward": "post_mlp_layernorm",
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


def read_bert(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a BERT, ERNIE or Megatron-BERT, from the `values` in its config.json."""
    return _read_bert_blocks(BERT.builder(values, stored), BERT)


def read_roberta(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a RoBERTa, XLM-R, CamemBERT or data2vec-text, from its config.json's `values`."""
    refuse_unmerged_adapters(stored)  # Jina v3's own files call themselves XLM-RoBERTa
    builder = ROBERTA.builder(values, stored)
    name = ROBERTA_NAMES.get(str(values.get("model_type")), "RoBERTa")
    # fairseq counts positions from the padding's number on
    first_position = builder.whole_number("pad_token_id", 1) + 1
    return _read_bert_blocks(builder, replace(ROBERTA, name=name, first_position=first_position))


def read_distilbert(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a DistilBERT, from the `values` in its config.json."""
    return read_text(DISTILBERT.builder(values, stored), DISTILBERT)


def read_electra(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of an ELECTRA; its discriminator classifies each token as replaced or not."""
    builder = ELECTRA.builder(values, stored)
    if builder.output_tensor_name(f"{DISCRIMINATOR}.dense.weight"):
        builder.map_output_linear("token_hidden", f"{DISCRIMINATOR}.dense")
        builder.map_output_linear("token_classifier", f"{DISCRIMINATOR}.dense_prediction")
        builder.family |= {
            "token_class_names": ("replaced",),
            "token_hidden": builder.activation(),
            "token_answers": "each",
        }
    return _read_bert_blocks(builder, ELECTRA)


def read_albert(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of an ALBERT, in which all layers of a group share their weights."""
    builder = ALBERT.builder(values, stored)
    _refuse_variants(builder)
    if builder.whole_number("inner_group_num", 1) != 1:
        raise ValueError("inner_group_num is not 1: groups of several inner layers are not supported")
    n_layers, n_groups = ALBERT.sizes(builder).n_layers, builder.whole_number("num_hidden_groups", 1)
    if not 1 <= n_groups <= n_layers:
        raise ValueError(f"{n_layers} layers cannot be in {n_groups} groups")
    builder.family["n_layer_groups"] = n_groups
    groups = [int(layer / (n_layers / n_groups)) for layer in range(n_layers)]
    blocks = [f"encoder.albert_layer_groups.{group}.albert_layers.0" for group in groups]
    return read_text(builder, replace(ALBERT, blocks=blocks))


def _read_bert_blocks(builder: ReadingBuilder, table: FamilyTable) -> Reading:
    """Configuration and tensor map of an encoder with BERT's blocks, post-LN or pre-LN as its norms are named in the file.

    Raises ValueError for an unsupported variant.
    """
    _refuse_variants(builder)
    first_block = f"{table.blocks}.0"
    if not builder.has_tensor(f"{first_block}.{BLOCK['norm_attention']}.weight"):
        norm = next((norm for norm in PRE_NORM if builder.has_tensor(f"{first_block}.{norm}.weight")), None)
        if norm is None:
            raise ValueError(f"{builder.prefix}{first_block}.{BLOCK['norm_attention']}.weight is missing")
        second_norm, final_norm = PRE_NORM[norm]
        block = BLOCK | {"norm_attention": norm, "norm_feed_forward": second_norm}
        table = replace(table, block=block, final_norm=final_norm)
    if not builder.has_tensor(f"{table.embedding_norm}.weight"):
        table = replace(table, embedding_norm=None)
    return read_text(builder, table)


def _refuse_variants(builder: ReadingBuilder) -> None:
    """Raises ValueError for decoders, and for relative positions, which are not added to the embedding."""
    refuse_decoder(builder)
    position_kind = builder.values.get("position_embedding_type", "absolute")
    if position_kind != "absolute":
        raise ValueError(
            f"its position_embedding_type is {shortened(position_kind)}, but only 'absolute' is supported"
        )


def refuse_unmerged_adapters(stored: Stored) -> None:
    """Raises ValueError if adapters for single tasks are stored beside the weights, not added to them (Jina v3)."""
    if any(".parametrizations." in name for name in stored.shapes):
        raise ValueError(NOT_MERGED)


def read_nomic(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a NomicBERT, from the `values` in its config.json."""
    authors_values = {ours: values[theirs] for ours, theirs in AUTHORS_NAMES.items() if theirs in values}
    builder = NOMIC.builder({**authors_values, **values}, stored)
    builder.refuse_other_values(NOMIC_VALUES)
    without_bias: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v", "w_o", "expand", "gate", "contract")
    return _read_rotary(builder, NOMIC, Parts(gated=True, without_bias=without_bias))


def read_gte(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a GTE, from the `values` in its config.json."""
    base = 160_000.0 if values.get("model_type") == "gte" else 10_000.0
    table = replace(GTE, defaults={**GTE.defaults, "rope_theta": base})
    builder = table.builder(values, stored)
    builder.refuse_other_values(GTE_VALUES)
    norm = "norm" if builder.output_tensor_name("lm_head.norm.weight") else "layer_norm"
    masked = MaskedTokenLayers("lm_head.dense", f"lm_head.{norm}", ("lm_head.decoder.bias",), "gelu")
    table = replace(table, outputs=OutputNames(pooler="pooler.dense", masked=masked))
    return _read_rotary(builder, table, Parts(gated=True, without_bias=("expand", "gate")))


def read_jina(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a Jina v3 without its adapters, from the `values` in its config.json."""
    refuse_unmerged_adapters(stored)
    builder = JINA.builder(values, stored)
    builder.notes.append("Adapters for single tasks, if there are any, are not applied.")
    return _read_rotary(builder, JINA, NO_PARTS)


def _read_rotary(builder: ReadingBuilder, table: FamilyTable, parts: Parts) -> Reading:
    """Configuration and tensor map of an encoder with rotary positions.

    Its tensors have either their authors' names or those of the modules of `transformers`.
    """
    builder.family["parts"] = replace(parts, rotary=rotary(builder, table.sizes(builder)))
    if builder.has_tensor("layers.0.post_attention_layernorm.weight"):
        block = {**table.block, **IN_MEMORY, **(GATED if parts.gated else {})}
        table = replace(table, blocks="layers", block=block, embedding_norm="embeddings.LayerNorm")
    return read_text(builder, table)
