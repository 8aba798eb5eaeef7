"""GTE (Zhang et al. 2024): BERT's blocks with rotary positions and gated feed-forwards."""

from collections.abc import Mapping
from typing import Any

from ..family_options import Parts
from .bert import TOKENS
from .nomic_bert import QKV, Names, check_values, fused, read_rotary_bert
from .output_layers import MaskedTokenLayers, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

NAMES = Names(
    "encoder.layer",
    "embeddings.LayerNorm",
    {
        **fused("attention.qkv_proj", QKV),
        "attention.w_o": "attention.o_proj",
        "norm_attention": "attn_ln",
        "norm_feed_forward": "mlp_ln",
        **fused("mlp.up_gate_proj", ("feed_forward.gate", "feed_forward.expand")),
        "feed_forward.contract": "mlp.down_proj",
    },
)
SUPPORTED_VALUES: dict[str, tuple[object, ...]] = {  # of its authors' settings
    "layer_norm_type": ("layer_norm",),
    "logn_attention_scale": (False,),
    "pack_qkv": (True,),
    "position_embedding_type": ("rope",),
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    check_values(layout, SUPPORTED_VALUES)
    norm = next(filter(layout.output_tensor_name, ("lm_head.norm.weight",)), "lm_head.layer_norm.weight")
    masked = MaskedTokenLayers(
        "lm_head.dense", norm.removesuffix(".weight"), ("lm_head.decoder.bias",), "gelu"
    )
    return read_rotary_bert(
        layout,
        "GTE",
        read_outputs(layout, pooler="pooler.dense", masked=masked),
        NAMES,
        Parts(gated=True, without_bias=("expand", "gate")),
        default_base=160_000.0 if layout.values.get("model_type") == "gte" else 10_000.0,
    )
