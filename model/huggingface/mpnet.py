"""MPNet (Song et al. 2020): BERT's blocks with a bias on the scores that depends on distance, shared by all layers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .bert import BLOCK, TOKENS, read_text_encoder
from .output_layers import LM_HEAD, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

FURTHEST = 128  # tokens: all that are further apart share a bucket (MPNet's code)
BIAS = "encoder.relative_attention_bias.weight"
MPNET_BLOCK = {
    **BLOCK,
    **{f"attention.w_{letter}": f"attention.attn.{letter}" for letter in "qkvo"},
    "norm_attention": "attention.LayerNorm",
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, TOKENS)
    outputs = read_outputs(layout, pooler="pooler.dense", hidden=("classifier.dense", "tanh"), masked=LM_HEAD)
    n_buckets = layout.whole_number("relative_attention_num_buckets", 32)
    if not 4 <= n_buckets < 4 * FURTHEST:
        raise ValueError(
            f"{n_buckets:,} relative_attention_num_buckets: from 4 to {4 * FURTHEST - 1} are supported"
        )
    outputs.family = replace(
        outputs.family, name="MPNet", n_relative_buckets=n_buckets, furthest_bucket=FURTHEST
    )
    layout.map_tensor("relative_bias.weight", BIAS)
    return read_text_encoder(
        layout,
        outputs,
        [f"encoder.layer.{prefix}" for prefix in range(layout.n_layers("num_hidden_layers"))],
        MPNET_BLOCK,
        padding_id=layout.token_id("pad_token_id", 1),
        first_position=2,  # as its code counts, whatever the padding's number
    )
