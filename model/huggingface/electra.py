"""ELECTRA (Clark et al. 2020): BERT's blocks after an embedding of another width; its discriminator classifies each token."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import bert
from .output_layers import MaskedTokenLayers, read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

DISCRIMINATOR = "discriminator_predictions"
MASKED = MaskedTokenLayers(
    "generator_predictions.dense", "generator_predictions.LayerNorm", ("generator_lm_head.bias",), "gelu"
)


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, bert.TOKENS)
    outputs = read_outputs(layout, hidden=("classifier.dense", "gelu"), masked=MASKED)
    if layout.output_tensor_name(f"{DISCRIMINATOR}.dense.weight"):
        layout.map_output_linear("token_hidden", f"{DISCRIMINATOR}.dense")
        layout.map_output_linear("token_classifier", f"{DISCRIMINATOR}.dense_prediction")
        outputs.family = replace(
            outputs.family,
            token_class_names=("replaced",),
            token_hidden=layout.activation(),
            token_answers="each",
        )
    width = layout.whole_number("embedding_size", layout.whole_number("hidden_size"))
    has_own_width = layout.has_tensor("embeddings_project.weight")
    if has_own_width:
        layout.map_linear("embedding.norm.1", "embeddings_project")
    return bert.read_like_bert(layout, "ELECTRA", outputs, d_embedding=width if has_own_width else None)
