"""Encoders of texts whose scores depend on distance: MPNet (Song et al. 2020) and T5 (Raffel et al. 2020) by a learned bias, DeBERTa
(He et al. 2021) by disentangled attention.

Of T5, mT5, ByT5, FLAN-T5 and UMT5 the encoder is read; it has RMSNorm, no biases in linear maps, and scores that are not divided
by sqrt(d_k).
"""

from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

from ..family_options import Activation, Disentangled, LinearMap, OutputActivation, Parts
from .bert import BERT, BLOCK
from .family_table import FamilyTable, read_text
from .output_layers import PREDICTIONS, ROBERTA_OUTPUTS, MaskedTokenLayers, OutputNames, read_outputs
from .tensor_map import ACTIVATIONS, Reading, ReadingBuilder
from .weights import Stored

FURTHEST = 128  # tokens: all that are further apart share a bucket (MPNet's code)
MPNET = replace(
    BERT,
    name="MPNet",
    defaults={"pad_token_id": 1},
    first_position=2,  # as its code counts, whatever the padding's number
    block={
        **BLOCK,
        **{f"attention.w_{letter}": f"attention.attn.{letter}" for letter in "qkvo"},
        "norm_attention": "attention.LayerNorm",
    },
    outputs=ROBERTA_OUTPUTS,
)
T5 = FamilyTable(
    name="T5",
    known_tensor="encoder.final_layer_norm.weight",
    d_model="d_model",
    n_layers="num_layers",
    n_heads="num_heads",
    d_head="d_kv",
    d_ff="d_ff",
    # it reads texts of any length; the newer ones were trained on 1,024 tokens
    n_positions="n_positions",
    activation=None,
    layer_norm_eps="layer_norm_epsilon",
    defaults={"d_kv": 64, "n_positions": 1024, "pad_token_id": 0, "layer_norm_epsilon": 1e-6},
    tokens="shared.weight",
    positions=None,
    embedding_norm=None,
    blocks="encoder.block",
    block={
        **{f"attention.w_{letter}": f"layer.0.SelfAttention.{letter}" for letter in "qkvo"},
        "norm_attention": "layer.0.layer_norm",
        "feed_forward.expand": "layer.1.DenseReluDense.wi",
        "feed_forward.contract": "layer.1.DenseReluDense.wo",
        "norm_feed_forward": "layer.1.layer_norm",
    },
    final_norm="encoder.final_layer_norm",
    outputs=OutputNames(),
)
T5_NAMES = {"mt5": "mT5", "umt5": "UMT5"}
T5_GATED = {
    "feed_forward.expand": "layer.1.DenseReluDense.wi_0",
    "feed_forward.gate": "layer.1.DenseReluDense.wi_1",
}
DEBERTA = replace(
    BERT,
    name="DeBERTa",
    defaults={"max_position_embeddings": 512, "pad_token_id": 0, "layer_norm_eps": 1e-7},
    widening="embeddings.embed_proj",
    block=BLOCK
    | {f"attention.w_{name[0]}": f"attention.self.{name}_proj" for name in ("query", "key", "value")},
    outputs=None,
)
NEW = "lm_predictions.lm_head"  # the masked-token output of DeBERTa v3
KINDS = ("c2p", "p2c")


def read_mpnet(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of an MPNet, from the `values` in its config.json."""
    builder = MPNET.builder(values, stored)
    n_buckets = builder.whole_number("relative_attention_num_buckets", 32)
    if not 4 <= n_buckets < 4 * FURTHEST:
        raise ValueError(
            f"{n_buckets:,} relative_attention_num_buckets: from 4 to {4 * FURTHEST - 1} are supported"
        )
    builder.family |= {"n_relative_buckets": n_buckets, "furthest_bucket": FURTHEST}
    builder.map_tensor("relative_bias.weight", "encoder.relative_attention_bias.weight")
    return read_text(builder, MPNET)


def read_t5(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of the encoder of a T5, from the `values` in its config.json."""
    builder, table, model_type = T5.builder(values, stored), T5, str(values.get("model_type"))
    if values.get("is_decoder"):
        raise ValueError("config.json has is_decoder true, but only T5's encoder is read")
    n_buckets = builder.whole_number("relative_attention_num_buckets", 32)
    furthest = builder.whole_number("relative_attention_max_distance", 128)
    if n_buckets < 4 or not n_buckets // 4 < furthest:
        raise ValueError(
            f"config.json has relative_attention_num_buckets {n_buckets:,} and relative_attention_max_distance {furthest:,}: "
            "there must be 4 buckets or more, and the distance must be more than a quarter of them"
        )
    # only UMT5 has a bias of its own in each layer; elsewhere the first one's is added in all
    by_layer = model_type == "umt5"
    is_gated, builder.fields["activation"] = _feed_forward(builder, "gated-gelu" if by_layer else "relu")
    if is_gated:
        table = replace(table, block={**T5.block, **T5_GATED})
    # the same tensor under two names, of which files hold either or both
    if not builder.has_tensor(table.tokens):
        table = replace(table, tokens="encoder.embed_tokens.weight")
    without_bias: tuple[LinearMap, ...] = ("w_q", "w_k", "w_v", "w_o", "expand", "contract")
    builder.fields["pooling"] = "mean"
    builder.family |= {
        "name": T5_NAMES.get(model_type, "T5"),
        "n_relative_buckets": n_buckets,
        "furthest_bucket": furthest,
        "relative_bias_by_layer": by_layer,
        "parts": Parts(
            norm="rms",
            gated=is_gated,
            scaled=False,
            without_bias=(*without_bias, "gate") if is_gated else without_bias,
        ),
    }
    for layer in range(table.sizes(builder).n_layers if by_layer else 1):
        ours = f"relative_bias.{layer}.weight" if by_layer else "relative_bias.weight"
        builder.map_tensor(
            ours, f"encoder.block.{layer}.layer.0.SelfAttention.relative_attention_bias.weight"
        )
    if builder.has_tensor("decoder.final_layer_norm.weight"):
        builder.notes.append("It also holds a decoder, which writes texts; here only its encoder is shown.")
    return read_text(builder, table)


def _feed_forward(builder: ReadingBuilder, default: str) -> tuple[bool, Activation]:
    """Whether the feed-forward is gated, and its activation, from `feed_forward_proj`, such as "relu" or "gated-gelu"."""
    value = builder.value("feed_forward_proj", default)
    name = value.removeprefix("gated-") if isinstance(value, str) else None
    if name not in ACTIVATIONS:
        raise ValueError(
            f"config.json has feed_forward_proj {shortened(value)}; "
            f"supported are {', '.join(ACTIVATIONS)}, each also after gated-"
        )
    # what is called gated-gelu is the approximation by tanh
    return value != name, "gelu_tanh" if value == "gated-gelu" else ACTIVATIONS[name]


def read_deberta(values: Mapping[str, Any], stored: Stored) -> Reading:
    """Configuration and tensor map of a DeBERTa v2 or v3, from the `values` in its config.json."""
    builder, table = DEBERTA.builder(values, stored), DEBERTA
    if _signed_number(builder, "conv_kernel_size", 0) > 0:
        raise ValueError(
            "config.json has a conv_kernel_size: its first layer mixes neighbouring tokens by a convolution beside "
            "attention, which is not supported"
        )
    d_head = table.sizes(builder).d_head
    if builder.whole_number("attention_head_size", d_head) != d_head:
        raise ValueError(
            "config.json has an attention_head_size other than hidden_size / num_attention_heads"
        )
    if not builder.flag("position_biased_input", True):
        table = replace(table, positions=None)
    builder.family["widened_first"] = builder.has_tensor(f"{table.widening}.weight")
    _read_deberta_outputs(builder)
    if (disentangled := _disentangled(builder)) is not None:
        builder.family["parts"] = Parts(disentangled=disentangled)
        builder.map_tensor("relative_positions.vectors.weight", "encoder.rel_embeddings.weight")
        if disentangled.norm:
            builder.map_linear("relative_positions.norm", "encoder.LayerNorm")
        block = dict(table.block)
        if disentangled.content_to_position and not disentangled.shared_maps:
            block["attention.position_k"] = "attention.self.pos_key_proj"
        if disentangled.position_to_content and not disentangled.shared_maps:
            block["attention.position_q"] = "attention.self.pos_query_proj"
        table = replace(table, block=block)
    return read_text(builder, table)


def _disentangled(builder: ReadingBuilder) -> Disentangled | None:
    """Options of the disentangled attention; None if the scores do not depend on relative positions."""
    kinds = builder.values.get("pos_att_type") or []
    if isinstance(kinds, str):
        kinds = [kind.strip() for kind in kinds.lower().split("|")]
    if not isinstance(kinds, list) or not all(kind in KINDS for kind in kinds):
        raise ValueError(f"config.json has pos_att_type {shortened(kinds)}; supported are {', '.join(KINDS)}")
    if not builder.flag("relative_attention", False) and kinds:
        raise ValueError("config.json has a pos_att_type without relative_attention, which is not supported")
    if not kinds:
        return None
    furthest, n_buckets = (
        _signed_number(builder, name, -1) for name in ("max_relative_positions", "position_buckets")
    )
    furthest = builder.whole_number("max_position_embeddings") if furthest < 1 else furthest
    if n_buckets == 1 or (n_buckets > 1 and furthest - 1 <= n_buckets // 2):
        raise ValueError(
            f"config.json has position_buckets {n_buckets:,}: there must be 2 or more, and half of them must be fewer "
            f"than the {furthest:,} max_relative_positions"
        )
    norm = builder.values.get("norm_rel_ebd", "none")
    norms = {name.strip() for name in norm.lower().split("|")} if isinstance(norm, str) else {""}
    if not norms <= {"none", "layer_norm"}:
        raise ValueError(f"config.json has norm_rel_ebd {shortened(norm)}; supported are none, layer_norm")
    return Disentangled(
        furthest=furthest,
        n_buckets=n_buckets if n_buckets > 1 else None,
        content_to_position="c2p" in kinds,
        position_to_content="p2c" in kinds,
        shared_maps=builder.flag("share_att_key", False),
        norm="layer_norm" in norms,
    )


def _signed_number(builder: ReadingBuilder, name: str, default: int) -> int:
    """The whole number, perhaps negative, that config.json has under `name`. Raises ValueError for any other value."""
    value = builder.values.get(name, default)
    return default if type(value) is int and value < 0 else builder.whole_number(name, max(default, 0))


def _read_deberta_outputs(builder: ReadingBuilder) -> None:
    """Maps the tensors of the output layers; if the masked-token output is stored in two layouts, the one that was trained."""
    has_detector = builder.output_tensor_name("mask_predictions.dense.weight") is not None
    # a discriminator's file (v3) has the other one as well, which its training left as it was
    is_legacy = builder.flag("legacy", has_detector or not builder.output_tensor_name(f"{NEW}.dense.weight"))
    masked = MaskedTokenLayers(f"{NEW}.dense", f"{NEW}.LayerNorm", (f"{NEW}.bias",))
    pooler_act: OutputActivation = "tanh"
    if builder.values.get("pooler_hidden_act") != "tanh":
        pooler_act = builder.activation("pooler_hidden_act")
    names = OutputNames(hidden=("pooler.dense", pooler_act), masked=PREDICTIONS if is_legacy else masked)
    read_outputs(builder, names, builder.activation())
    if not is_legacy and "masked_token_output" in builder.fields:
        # it reads the embedding, whatever config.json says
        builder.sources.pop("masked_token_output.decoder.weight", None)
        builder.family["tied_output"] = True
