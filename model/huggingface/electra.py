"""ELECTRA (Clark et al. 2020): BERT's trunk after an embedding of another width; its discriminator judges each token."""

from collections.abc import Mapping
from typing import Any

from . import bert
from .output_layers import read_outputs
from .tensor_map import Layout, Reading
from .weights import Stored

JUDGES = "discriminator_predictions"


def read(values: Mapping[str, Any], stored: Stored) -> Reading:
    layout = Layout.find(values, stored, bert.WORDS)
    outputs = read_outputs(
        layout,
        hidden=("classifier.dense", "gelu"),
        masked=(
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
            ("generator_lm_head.bias",),
            "gelu",
        ),
    )
    if layout.beside(f"{JUDGES}.dense.weight"):
        layout.linear_beside("token_hidden", f"{JUDGES}.dense")
        layout.linear_beside("token_classifier", f"{JUDGES}.dense_prediction")
        outputs[1].update(token_class_names=("replaced",), token_hidden=layout.act(), token_answers="each")
    width = layout.number("embedding_size", layout.number("hidden_size"))
    own = width if layout.has("embeddings_project.weight") else None
    if own:
        layout.linear("embedding.norm.1", "embeddings_project")
    return bert.reading(layout, "ELECTRA", outputs, d_embedding=own)
