"""EuroBERT (Boizard et al. 2025): rotary positions, RMSNorm, gated feed-forwards, and heads that share keys and values."""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig, Pooling
from ..family_options import LinearMap, Parts, Rotary
from .output_layers import Outputs, answer_kind
from .rotary_settings import head_width, rotary_base
from .tensor_map import Layout, Reading, Source
from .weights import Stored

TOKENS = "embed_tokens.weight"
BLOCK = {
    "attention.w_q": "self_attn.q_proj",
    "attention.w_k": "self_attn.k_proj",
    "attention.w_v": "self_attn.v_proj",
    "attention.w_o": "self_attn.o_proj",
    "feed_forward.expand": "mlp.gate_proj",
    "feed_forward.gate": "mlp.up_proj",
    "feed_forward.contract": "mlp.down_proj",
    "norm_attention": "input_layernorm",
    "norm_feed_forward": "post_attention_layernorm",
}
# "late": each position's hidden layer is computed before the mean
POOLINGS: dict[str, Pooling] = {"bos": "class", "mean": "mean", "late": "mean"}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    n_layers = layout.n_layers("num_hidden_layers")
    d_model, n_heads, _ = layout.widths(
        layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads")
    )
    d_head = head_width(layout, d_model, n_heads)
    n_key_heads = layout.whole_number("num_key_value_heads", n_heads)
    if not n_key_heads or n_heads % n_key_heads:
        raise ValueError(f"{n_heads} heads cannot share num_key_value_heads {n_key_heads} evenly")
    attention_bias, mlp_bias = layout.flag("attention_bias", False), layout.flag("mlp_bias", False)
    without_bias: list[LinearMap] = [] if attention_bias else ["w_q", "w_k", "w_v", "w_o"]
    without_bias += [] if mlp_bias else ["expand", "gate", "contract"]
    outputs = _read_outputs(layout, mlp_bias)
    parts = Parts(
        norm="rms",
        gated=True,
        n_key_heads=n_key_heads if n_key_heads < n_heads else None,
        rotary=Rotary(bases=(rotary_base(layout, 10_000.0),) * n_layers),
        without_bias=tuple(without_bias),
    )
    n_stored = layout.whole_number("max_position_embeddings", 8192)
    config = ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_k=d_head,
        d_v=d_head,
        n_layers=n_layers,
        d_ff=layout.whole_number("intermediate_size"),
        n_positions=layout.n_positions(n_stored, n_layers, n_heads),
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=layout.token_id("pad_token_id"),
        norm_placement="pre",
        positions="none",
        pooling=POOLINGS[_pooling(layout)] if outputs.class_names else "class",
        activation=layout.activation(default="silu"),
        layer_norm_eps=layout.real_number("rms_norm_eps", 1e-5),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=replace(outputs.family, name="EuroBERT", parts=parts),
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    for layer in range(n_layers):
        for ours, theirs in BLOCK.items():
            has_bias = (
                attention_bias if theirs.startswith("self_attn") else mlp_bias and theirs.startswith("mlp")
            )
            layout.map_linear(f"blocks.{layer}.{ours}", f"layers.{layer}.{theirs}", bias=has_bias)
    layout.map_linear("final_norm", "norm", bias=False)
    return layout.reading(config)


def _pooling(layout: Layout) -> str:
    name = layout.values.get(
        "classifier_pooling", layout.values.get("clf_pooling", "late")
    )  # new name, older one
    if not isinstance(name, str) or name not in POOLINGS:
        raise ValueError(
            f"config.json has classifier_pooling {shortened(name)}; supported are {', '.join(POOLINGS)}"
        )
    return name


def _read_outputs(layout: Layout, mlp_bias: bool) -> Outputs:
    """Maps the tensors of the output layers in the file: of classes, of tokens, or of masked tokens."""
    outputs, architecture = Outputs(), str(layout.values.get("architectures"))
    is_tied = layout.flag("tie_word_embeddings", False)
    head, weight = layout.output_tensor_name("lm_head.weight"), layout.output_tensor_name("classifier.weight")
    if head or (is_tied and "MaskedLM" in architecture):
        if not is_tied:
            layout.sources["masked_token_output.decoder.weight"] = Source(head or "lm_head.weight")
        if mlp_bias:
            name = layout.output_tensor_name("lm_head.bias") or "lm_head.bias"
            layout.sources["masked_token_output.bias"] = Source(name)
        else:
            layout.zeros.append("masked_token_output.bias")
        outputs.masked_token_output = True
        outputs.family = replace(outputs.family, masked_token_hidden=False, tied_output=is_tied)
    if weight is None:
        return outputs
    names = layout.class_labels(layout.n_output_rows(weight))
    if layout.output_tensor_name("dense.weight"):
        layout.map_output_linear("pooler", "dense")
        layout.map_output_linear("classifier", "classifier")
        outputs.class_names = names
        outputs.family = replace(
            outputs.family,
            pooler="gelu",
            pools_last=_pooling(layout) == "late",
            answers=answer_kind(layout, len(names)),
        )
    else:
        layout.map_output_linear("token_classifier", "classifier")
        outputs.family = replace(outputs.family, token_class_names=names)
    return outputs
