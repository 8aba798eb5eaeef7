"""T5's encoder (Raffel et al. 2020), also of mT5, ByT5, FLAN-T5 and UMT5: RMSNorm, no biases in linear maps, scores that are
not divided by sqrt(d_k), and a bias on them by distance.
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..config import ModelConfig
from ..family_options import Activation, LinearMap, Parts
from .output_layers import read_outputs
from .tensor_map import ACTIVATIONS, Layout, Reading
from .weights import Stored

LAST_NORM = "encoder.final_layer_norm.weight"
NAMES = {"mt5": "mT5", "umt5": "UMT5"}
WITHOUT_BIAS: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v", "w_o", "expand", "contract")


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, LAST_NORM)
    if values.get("is_decoder"):
        raise ValueError("config.json has is_decoder true, but only T5's encoder is read")
    n_layers, model_type = layout.n_layers("num_layers"), str(values.get("model_type"))
    d_model, n_heads = layout.whole_number("d_model"), layout.whole_number("num_heads")
    d_head, d_ff = layout.whole_number("d_kv"), layout.whole_number("d_ff")
    n_buckets = layout.whole_number("relative_attention_num_buckets", 32)
    furthest = layout.whole_number("relative_attention_max_distance", 128)
    if n_buckets < 4 or not n_buckets // 4 < furthest:
        raise ValueError(
            f"config.json has relative_attention_num_buckets {n_buckets:,} and relative_attention_max_distance {furthest:,}: "
            "there must be 4 buckets or more, and the distance must be more than a quarter of them"
        )
    # only UMT5 has a bias of its own in each layer; elsewhere the first one's is added in all
    by_layer = model_type == "umt5"
    is_gated, activation = _feed_forward(layout, "gated-gelu" if by_layer else "relu")
    outputs = read_outputs(layout)
    config = ModelConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_k=d_head,
        d_v=d_head,
        n_layers=n_layers,
        d_ff=d_ff,
        # it reads texts of any length; the newer ones were trained on 1,024 tokens
        n_positions=layout.n_positions(layout.whole_number("n_positions", 1024), n_layers, n_heads),
        vocab_size=layout.whole_number("vocab_size"),
        padding_id=layout.token_id("pad_token_id", 0),
        norm_placement="pre",
        positions="none",
        pooling="mean",
        activation=activation,
        layer_norm_eps=layout.real_number("layer_norm_epsilon", 1e-6),
        family=replace(
            outputs.family,
            name=NAMES.get(model_type, "T5"),
            n_relative_buckets=n_buckets,
            furthest_bucket=furthest,
            relative_bias_by_layer=by_layer,
            parts=Parts(
                norm="rms",
                gated=is_gated,
                scaled=False,
                without_bias=(*WITHOUT_BIAS, "gate") if is_gated else WITHOUT_BIAS,
            ),
        ),
    )
    # the same tensor under two names, of which files hold either or both
    tokens = "shared.weight" if layout.has_tensor("shared.weight") else "encoder.embed_tokens.weight"
    layout.map_tensor("embedding.tokens.weight", tokens)
    maps = {f"attention.w_{letter}": f"layer.0.SelfAttention.{letter}" for letter in "qkvo"}
    maps |= {"norm_attention": "layer.0.layer_norm", "norm_feed_forward": "layer.1.layer_norm"}
    maps["feed_forward.expand"] = f"layer.1.DenseReluDense.{'wi_0' if is_gated else 'wi'}"
    maps["feed_forward.contract"] = "layer.1.DenseReluDense.wo"
    if is_gated:
        maps["feed_forward.gate"] = "layer.1.DenseReluDense.wi_1"
    layout.map_blocks([f"encoder.block.{layer}" for layer in range(n_layers)], maps, bias=False)
    for layer in range(n_layers if by_layer else 1):
        ours = f"relative_bias.{layer}.weight" if by_layer else "relative_bias.weight"
        layout.map_tensor(ours, f"encoder.block.{layer}.layer.0.SelfAttention.relative_attention_bias.weight")
    layout.map_linear("final_norm", "encoder.final_layer_norm", bias=False)
    if layout.has_tensor("decoder.final_layer_norm.weight"):
        layout.notes.append("It also holds a decoder, which writes texts; here only its encoder is shown.")
    return layout.reading(config)


def _feed_forward(layout: Layout, default: str) -> tuple[bool, Activation]:
    """Whether the feed-forward is gated, and its activation, from feed_forward_proj: "relu", or "gated-gelu"."""
    value = layout.values.get("feed_forward_proj", default)
    name = value.removeprefix("gated-") if isinstance(value, str) else None
    if name not in ACTIVATIONS:
        raise ValueError(
            f"config.json has feed_forward_proj {shortened(value)}; "
            f"supported are {', '.join(ACTIVATIONS)}, each also after gated-"
        )
    is_gated = value != name
    # what is called so is the approximation by tanh
    return is_gated, "gelu_tanh" if value == "gated-gelu" else ACTIVATIONS[name]
