"""Pre-LN text encoders with rotary positions: ModernBERT (Warner et al. 2024) with a local window in most layers, EuroBERT (Boizard
et al. 2025) with heads that share keys and values, and ESM-2 (Lin et al. 2023) with ESM-1b (Rives et al. 2021), which read proteins.
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import Pooling
from ..family_options import NO_PARTS, LinearMap, Parts
from .bert import BERT, BLOCK
from .family_table import FamilyTable, read_text, refuse_decoder, rotary, rotary_base
from .output_layers import ROBERTA_OUTPUTS, read_classifier, read_token_classifier
from .tensor_map import GATED, QKV, Reading, ReadingBuilder, fused_rows
from .weights import Stored

MODERNBERT = FamilyTable(
    name="ModernBERT",
    known_tensor="embeddings.tok_embeddings.weight",
    d_head="head_dim",
    activation="hidden_activation",
    layer_norm_eps="norm_eps",
    defaults={
        "max_position_embeddings": 8192,
        "norm_eps": 1e-5,
        "global_rope_theta": 160_000.0,
        "local_rope_theta": 10_000.0,
    },
    tokens="embeddings.tok_embeddings.weight",
    positions=None,
    embedding_norm="embeddings.norm",
    blocks="layers",
    block={
        **fused_rows("attn.Wqkv.", QKV),
        "attention.w_o": "attn.Wo",
        "norm_attention": "attn_norm",
        **fused_rows("mlp.Wi.", ("feed_forward.expand", "feed_forward.gate")),
        "feed_forward.contract": "mlp.Wo",
        "norm_feed_forward": "mlp_norm",
    },
    final_norm="final_norm",
)
# name of the setting that holds the base of each type of layer
BASES = {"full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta"}
MODERNBERT_POOLINGS: dict[str, Pooling] = {"cls": "class", "mean": "mean"}
EUROBERT = FamilyTable(
    name="EuroBERT",
    known_tensor="embed_tokens.weight",
    d_head="head_dim",
    layer_norm_eps="rms_norm_eps",
    defaults={
        "max_position_embeddings": 8192,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 10_000.0,
    },
    tokens="embed_tokens.weight",
    positions=None,
    embedding_norm=None,
    blocks="layers",
    block={
        **{f"attention.w_{letter}": f"self_attn.{letter}_proj" for letter in "qkvo"},
        **GATED,
        "norm_attention": "input_layernorm",
        "norm_feed_forward": "post_attention_layernorm",
    },
    final_norm="norm",
)
# "late": each position's hidden layer is computed before the mean
EUROBERT_POOLINGS: dict[str, Pooling] = {"bos": "class", "mean": "mean", "late": "mean"}
ESM = replace(
    BERT,
    name="ESM-1b",
    activation=None,
    defaults={"max_position_embeddings": 1026, "rope_theta": 10_000.0},
    embedding_norm="embeddings.layer_norm",
    block=BLOCK | {"norm_attention": "attention.LayerNorm", "norm_feed_forward": "LayerNorm"},
    final_norm="encoder.emb_layer_norm_after",
    outputs=ROBERTA_OUTPUTS,
)
# one for all layers, under the names that newer and older versions of `transformers` give it
FREQUENCIES = (
    "rotary_embeddings.inv_freq",
    "encoder.layer.*.attention.self.rotary_embeddings.inv_freq",
    "encoder.layer.0.attention.self.rotary_embeddings.inv_freq",
)


def read_modernbert(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a ModernBERT, from the `values` in its config.json."""
    builder = MODERNBERT.builder(values, stored)
    d_model, n_layers, n_heads, d_head = sizes = MODERNBERT.sizes(builder)
    if d_head * n_heads != d_model:
        raise ValueError(
            f"config.json has head_dim {d_head}, but only hidden_size / num_attention_heads is supported"
        )
    layer_types = _layer_types(builder, n_layers)
    bases = {kind: rotary_base(builder, BASES[kind], kind) for kind in BASES if kind in layer_types}
    # local_attention is the whole window, half of it to each side
    window = min(
        builder.whole_number("local_attention", 128) // 2, builder.whole_number("max_position_embeddings")
    )
    builder.family["parts"] = Parts(
        norm_bias=builder.flag("norm_bias", False),
        first_norm=False,
        gated=True,
        rotary=rotary(builder, sizes, [bases[kind] for kind in layer_types]),
        windows=tuple(window if kind == "sliding_attention" else None for kind in layer_types),
        without_bias=_maps_without_bias(builder),
    )
    _read_modernbert_outputs(builder)
    return read_text(builder, MODERNBERT)


def _maps_without_bias(builder: ReadingBuilder) -> tuple[LinearMap, ...]:
    """Names of a block's linear maps that have no bias, by the flags `attention_bias` and `mlp_bias` in config.json."""
    names: list[LinearMap] = [] if builder.flag("attention_bias", False) else ["w_q", "w_k", "w_v", "w_o"]
    names += [] if builder.flag("mlp_bias", False) else ["expand", "gate", "contract"]
    return tuple(names)


def _layer_types(builder: ReadingBuilder, n_layers: int) -> list[str]:
    """For each layer "full_attention" or "sliding_attention" (a local window), from config.json of newer or older versions."""
    layer_types = builder.values.get("layer_types")
    if layer_types is None:
        every = builder.whole_number("global_attn_every_n_layers", 3)
        if not every:
            raise ValueError("config.json has global_attn_every_n_layers 0, which must be 1 or more")
        return ["sliding_attention" if layer % every else "full_attention" for layer in range(n_layers)]
    if not isinstance(layer_types, list) or len(layer_types) != n_layers:
        raise ValueError(
            f"config.json has layer_types {shortened(layer_types)}, which must name {n_layers} layers"
        )
    for layer_type in layer_types:
        if not isinstance(layer_type, str) or layer_type not in BASES:
            raise ValueError(
                f"config.json has layer_types {shortened(layer_type)}; supported are {', '.join(BASES)}"
            )
    return layer_types


def _read_modernbert_outputs(builder: ReadingBuilder) -> None:
    """Maps the tensors of the output layers, which classify a text, classify each token, or predict masked tokens."""
    architecture = str(builder.values.get("architectures"))
    # of question answering it reads each token for the beginning and the end of an answer, and is left out
    if not builder.output_tensor_name("head.dense.weight") or "QuestionAnswering" in architecture:
        return
    act = builder.activation("classifier_activation")
    if not builder.output_tensor_name("classifier.weight"):
        hidden, norm = "masked_token_output.transform", "masked_token_output.norm"
        _read_decoder(
            builder,
            is_tied=builder.flag("tie_word_embeddings", True),
            has_bias=builder.flag("decoder_bias", True),
        )
        builder.family["masked_token_act"] = act
    elif "TokenClassification" in architecture:
        hidden, norm = "token_hidden", "token_norm"
        read_token_classifier(builder)
        builder.family |= {"hidden_norm": True, "token_hidden": act}
    else:
        hidden, norm = "pooler", "pooler_norm"
        read_classifier(builder)
        builder.fields["pooling"] = builder.choice("classifier_pooling", MODERNBERT_POOLINGS, "cls")
        builder.family |= {"hidden_norm": True, "pooler": act}
    builder.map_output_linear(hidden, "head.dense", has_bias=builder.flag("classifier_bias", False))
    builder.map_output_linear(norm, "head.norm", has_bias=builder.flag("norm_bias", False))


def _read_decoder(builder: ReadingBuilder, layer: str = "decoder", *, is_tied: bool, has_bias: bool) -> None:
    """Maps the linear layer that predicts masked tokens; if `is_tied`, its weight is the embedding's and not stored again."""
    if not is_tied:
        builder.map_output_tensor("masked_token_output.decoder.weight", f"{layer}.weight")
    if has_bias:
        builder.map_output_tensor("masked_token_output.bias", f"{layer}.bias")
    else:
        builder.zeros.append("masked_token_output.bias")
    builder.fields["masked_token_output"] = True
    builder.family["tied_output"] = is_tied


def read_eurobert(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a EuroBERT, from the `values` in its config.json."""
    # clf_pooling is the older name of the setting
    builder = EUROBERT.builder({"classifier_pooling": values.get("clf_pooling"), **values}, stored)
    sizes = EUROBERT.sizes(builder)
    n_heads, n_key_heads = sizes.n_heads, builder.whole_number("num_key_value_heads", sizes.n_heads)
    if not n_key_heads or n_heads % n_key_heads:
        raise ValueError(f"{n_heads} heads cannot share num_key_value_heads {n_key_heads} evenly")
    builder.family["parts"] = Parts(
        norm="rms",
        gated=True,
        n_key_heads=n_key_heads if n_key_heads < n_heads else None,
        rotary=rotary(builder, sizes),
        without_bias=_maps_without_bias(builder),
    )
    _read_eurobert_outputs(builder)
    return read_text(builder, EUROBERT)


def _read_eurobert_outputs(builder: ReadingBuilder) -> None:
    """Maps the tensors of the output layers, which classify a text, classify each token, or predict masked tokens."""
    is_tied = builder.flag("tie_word_embeddings", False)
    is_masked_model = is_tied and "MaskedLM" in str(builder.values.get("architectures"))
    if builder.output_tensor_name("lm_head.weight") or is_masked_model:
        _read_decoder(builder, "lm_head", is_tied=is_tied, has_bias=builder.flag("mlp_bias", False))
        builder.family["masked_token_hidden"] = False
    if not builder.output_tensor_name("classifier.weight"):
        return
    if not builder.output_tensor_name("dense.weight"):
        read_token_classifier(builder)
        return
    builder.map_output_linear("pooler", "dense")
    read_classifier(builder)
    builder.fields["pooling"] = builder.choice("classifier_pooling", EUROBERT_POOLINGS, "late")
    builder.family |= {
        "pooler": "gelu",
        "pools_last": builder.value("classifier_pooling", "late") == "late",
    }


def read_esm(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of an ESM-2 or ESM-1b, from the `values` in its config.json."""
    builder, table = ESM.builder(values, stored), ESM
    refuse_decoder(builder)
    if builder.flag("is_folding_model", False):
        raise ValueError(
            "this is ESMFold, whose structure module is not supported; open the ESM-2 encoder inside it"
        )
    position_kind = builder.values.get("position_embedding_type") or "absolute"
    if position_kind not in ("absolute", "rotary"):
        raise ValueError(
            f"its position_embedding_type is {shortened(position_kind)}; supported are 'absolute' and 'rotary'"
        )
    builder.family["parts"] = NO_PARTS
    if position_kind == "rotary":
        table = replace(table, name="ESM-2", positions=None)
        builder.family["parts"] = _rotary_parts(builder)
    else:  # as its code counts
        table = replace(table, first_position=1 + (builder.token_id("pad_token_id") or 0))
    if not builder.flag("emb_layer_norm_before", False):
        table = replace(table, embedding_norm=None)
    builder.family["zeroed_token_id"] = _zeroed_token_id(builder)
    builder.fields["activation"] = "gelu"  # whatever config.json says
    if builder.has_tensor("contact_head.regression.weight"):
        builder.notes.append("Its contact head, which predicts which residues touch, is left out.")
    return read_text(builder, table)


def _rotary_parts(builder: ReadingBuilder) -> Parts:
    """Rotary positions, with the frequencies in the weights file if it has them, since some were rounded before training."""
    sizes, name = ESM.sizes(builder), next(filter(builder.has_tensor, FREQUENCIES), None)
    if name is not None:
        for layer in range(sizes.n_layers):
            for vector in "qk":
                builder.map_tensor(f"blocks.{layer}.attention.{vector}.stored_frequencies", name)
    return Parts(rotary=rotary(builder, sizes, stored_frequencies=name is not None))


def _zeroed_token_id(builder: ReadingBuilder) -> int | None:
    """Id of the mask token, whose embedding is set to zero if config.json has `token_dropout`; None otherwise.

    Raises ValueError if config.json has `token_dropout` and no id of the mask token.
    """
    if not builder.flag("token_dropout", False):
        return None
    if (token_id := builder.token_id("mask_token_id")) is None:
        raise ValueError(f"config.json has token_dropout, but mask_token_id {token_id}")
    return token_id
