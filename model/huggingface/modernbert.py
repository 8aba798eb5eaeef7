"""ModernBERT (Warner et al. 2024): rotary positions, a local window in most layers, gated feed-forwards, norms without bias."""

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

TOKENS = "embeddings.tok_embeddings.weight"
POOLINGS: dict[str, Pooling] = {"cls": "class", "mean": "mean"}
BASES = {
    "full_attention": ("global_rope_theta", 160_000.0),
    "sliding_attention": ("local_rope_theta", 10_000.0),
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    n_layers = layout.n_layers("num_hidden_layers")
    d_model, n_heads, _ = widths = layout.widths(
        layout.whole_number("hidden_size"), layout.whole_number("num_attention_heads")
    )
    d_head, d_ff = head_width(layout, d_model, n_heads), layout.whole_number("intermediate_size")
    if d_head != widths.d_head:
        raise ValueError(
            f"config.json has head_dim {d_head}, but only hidden_size / num_attention_heads is supported"
        )
    norm_bias, attention_bias = layout.flag("norm_bias", False), layout.flag("attention_bias", False)
    mlp_bias = layout.flag("mlp_bias", False)
    without_bias: list[LinearMap] = [] if attention_bias else ["w_q", "w_k", "w_v", "w_o"]
    without_bias += [] if mlp_bias else ["expand", "gate", "contract"]
    layer_types = _layer_types(layout, n_layers)
    base_by_type = {
        layer_type: rotary_base(layout, default, name, layer_type)
        for layer_type, (name, default) in BASES.items()
        if layer_type in layer_types
    }
    # local_attention is the whole window, half of it to each side
    n_positions = layout.n_positions(layout.whole_number("max_position_embeddings", 8192), n_layers, n_heads)
    window = min(layout.whole_number("local_attention", 128) // 2, n_positions)
    outputs = _read_outputs(layout, norm_bias)
    parts = Parts(
        norm_bias=norm_bias,
        first_norm=False,
        gated=True,
        rotary=Rotary(bases=tuple(base_by_type[layer_type] for layer_type in layer_types)),
        windows=tuple(window if layer_type == "sliding_attention" else None for layer_type in layer_types),
        without_bias=tuple(without_bias),
    )
    config = ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_k=d_head,
        d_v=d_head,
        n_layers=n_layers,
        d_ff=d_ff,
        n_positions=n_positions,
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=layout.token_id("pad_token_id"),
        norm_placement="pre",
        embedding_norm=True,
        positions="none",
        pooling=_pooling(layout) if outputs.class_names else "class",
        activation=layout.activation("hidden_activation"),
        layer_norm_eps=layout.real_number("norm_eps", 1e-5),
        class_names=outputs.class_names,
        masked_token_output=outputs.masked_token_output,
        family=replace(outputs.family, name="ModernBERT", parts=parts),
    )
    layout.map_tensor("embedding.tokens.weight", TOKENS)
    layout.map_linear("embedding.norm", "embeddings.norm", bias=norm_bias)
    for layer in range(n_layers):
        ours, theirs = f"blocks.{layer}", f"layers.{layer}"
        for part, name in enumerate(("w_q", "w_k", "w_v")):
            layout.map_rows(
                f"{ours}.attention.{name}",
                f"{theirs}.attn.Wqkv",
                part,
                3,
                (d_model, d_model),
                bias=attention_bias,
            )
        layout.map_linear(f"{ours}.attention.w_o", f"{theirs}.attn.Wo", bias=attention_bias)
        for part, name in enumerate(("expand", "gate")):
            layout.map_rows(
                f"{ours}.feed_forward.{name}", f"{theirs}.mlp.Wi", part, 2, (d_ff, d_model), bias=mlp_bias
            )
        layout.map_linear(f"{ours}.feed_forward.contract", f"{theirs}.mlp.Wo", bias=mlp_bias)
        if layer:
            layout.map_linear(f"{ours}.norm_attention", f"{theirs}.attn_norm", bias=norm_bias)
        layout.map_linear(f"{ours}.norm_feed_forward", f"{theirs}.mlp_norm", bias=norm_bias)
    layout.map_linear("final_norm", "final_norm", bias=norm_bias)
    return layout.reading(config)


def _layer_types(layout: Layout, n_layers: int) -> list[str]:
    """Whether each layer sees the whole text or a window of it, by the names in config.json of newer or older versions."""
    layer_types = layout.values.get("layer_types")
    if layer_types is None:
        every = layout.whole_number("global_attn_every_n_layers", 3)
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


def _pooling(layout: Layout) -> Pooling:
    name = layout.values.get("classifier_pooling", "cls")
    if not isinstance(name, str) or name not in POOLINGS:
        raise ValueError(
            f"config.json has classifier_pooling {shortened(name)}; supported are {', '.join(POOLINGS)}"
        )
    return POOLINGS[name]


def _read_outputs(layout: Layout, norm_bias: bool) -> Outputs:
    """Maps the tensors of the prediction head and of the layer behind it, which reads a text, each token, or masked tokens."""
    outputs = Outputs()
    # of question answering it reads each token for the beginning and the end of an answer, and is left out
    if not layout.output_tensor_name("head.dense.weight"):
        return outputs
    bias = layout.flag("classifier_bias", False)
    act = layout.activation("classifier_activation")
    weight = layout.output_tensor_name("classifier.weight")
    architecture = str(layout.values.get("architectures"))
    if weight is None:
        layout.map_output_linear("masked_token_output.transform", "head.dense", bias=bias)
        layout.map_output_linear("masked_token_output.norm", "head.norm", bias=norm_bias)
        if layout.flag("decoder_bias", True):
            layout.sources["masked_token_output.bias"] = Source(
                layout.output_tensor_name("decoder.bias") or "decoder.bias"
            )
        else:
            layout.zeros.append("masked_token_output.bias")
        is_tied = layout.flag("tie_word_embeddings", True)
        if not is_tied:
            name = layout.output_tensor_name("decoder.weight") or "decoder.weight"
            layout.sources["masked_token_output.decoder.weight"] = Source(name)
        outputs.masked_token_output = True
        outputs.family = replace(outputs.family, masked_token_act=act, tied_output=is_tied)
    elif "QuestionAnswering" not in architecture:
        reads_tokens = "TokenClassification" in architecture
        n_classes = layout.n_output_rows(weight)
        layout.map_output_linear("token_hidden" if reads_tokens else "pooler", "head.dense", bias=bias)
        layout.map_output_linear("token_norm" if reads_tokens else "pooler_norm", "head.norm", bias=norm_bias)
        layout.map_output_linear("token_classifier" if reads_tokens else "classifier", "classifier")
        names = layout.class_labels(n_classes)
        outputs.family = replace(outputs.family, hidden_norm=True)
        if reads_tokens:
            outputs.family = replace(outputs.family, token_hidden=act, token_class_names=names)
        else:
            outputs.class_names = names
            outputs.family = replace(outputs.family, pooler=act, answers=answer_kind(layout, n_classes))
    return outputs
