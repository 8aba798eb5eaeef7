"""RoBERTa (Liu et al. 2019), XLM-R, CamemBERT: BERT's blocks, with positions counted from after the padding token's id."""

from collections.abc import Mapping
from typing import Any

from . import bert
from .jina import refuse_unmerged
from .output_layers import LM_HEAD, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

NAMES = {
    "xlm-roberta": "XLM-RoBERTa",
    "camembert": "CamemBERT",
    "roberta-prelayernorm": "RoBERTa-PreLayerNorm",
    "data2vec-text": "data2vec",
}


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    refuse_unmerged(stored)  # Jina v3's own files call themselves XLM-RoBERTa
    layout = Layout.find(values, stored, bert.TOKENS)
    outputs = read_outputs(layout, pooler="pooler.dense", hidden=("classifier.dense", "tanh"), masked=LM_HEAD)
    name = NAMES.get(str(values.get("model_type")), "RoBERTa")
    # fairseq counts positions from the padding's number on
    return bert.read_like_bert(
        layout, name, outputs, first_position=layout.whole_number("pad_token_id", 1) + 1
    )
