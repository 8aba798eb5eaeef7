"""Jina v3 (Sturua et al. 2024): BERT's blocks with rotary positions."""

from collections.abc import Mapping
from typing import Any

from ..family_options import Parts
from .bert import TOKENS
from .nomic_bert import QKV, Names, fused, read_rotary_bert
from .output_layers import LM_HEAD, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

NAMES = Names(
    "encoder.layers",
    "emb_ln",
    {
        **fused("mixer.Wqkv", QKV),
        "attention.w_o": "mixer.out_proj",
        "norm_attention": "norm1",
        "norm_feed_forward": "norm2",
        "feed_forward.expand": "mlp.fc1",
        "feed_forward.contract": "mlp.fc2",
    },
)
NOT_MERGED = (
    "its weights are stored beside adapters for each task; open jinaai/jina-embeddings-v3-hf, which holds them alone, "
    "or merge an adapter first"
)


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    refuse_unmerged(stored)
    layout = Layout.find(values, stored, TOKENS)
    outputs = read_outputs(layout, pooler="pooler.dense", hidden=("classifier.dense", "tanh"), masked=LM_HEAD)
    layout.notes.append("Adapters for single tasks, if there are any, are not applied.")
    return read_rotary_bert(
        layout,
        "Jina v3",
        outputs,
        NAMES,
        Parts(),
        default_base=20_000.0,
        default_length=8194,
        default_eps=1e-5,
    )


def refuse_unmerged(stored: Stored) -> None:
    """Raises ValueError if each weight is stored in two parts, its own and the adapters' for single tasks."""
    if any(".parametrizations." in name for name in stored.shapes):
        raise ValueError(NOT_MERGED)
