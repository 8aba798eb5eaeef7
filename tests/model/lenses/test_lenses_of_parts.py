"""The lenses on blocks of other parts, against the same encoders with values that are really zeroed at their hook point."""

import numpy as np
import pytest
import torch

from model.capture import activations, capture
from model.hooks import watch
from model.lenses.norms import vector_norms_with_residual
from model.lenses.value_zeroing import changes_of_layers
from model.loaded import Loaded
from tests.model.huggingface.folders import SENTENCE, encoder

ARCHITECTURES = ["T5EncoderModel", "UMT5EncoderModel", "DebertaV2Model", "ModernBertModel", "EuroBertModel"]


def with_values(loaded: Loaded, layer: int, factors: torch.Tensor, name: str) -> np.ndarray:
    """An activation of the block, with each position's values multiplied by its factor."""
    point = f"blocks.{layer}.attention.v"
    with watch(loaded.model, {point: lambda v: v * factors[:, None]}):
        (values,) = activations(loaded, [SENTENCE], [f"blocks.{layer}.{name}"]).values()
    return values[0].numpy().astype(float)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_value_zeroing_is_what_zeroed_values_change(architecture, tmp_path):
    loaded = encoder(tmp_path, architecture)
    record = capture(loaded, SENTENCE)
    changes = changes_of_layers(loaded.model, record)
    for layer in range(record.config.n_layers):
        whole = with_values(loaded, layer, torch.ones(len(record)), "resid_post")
        for key in range(len(record)):
            factors = torch.ones(len(record))
            factors[key] = 0
            zeroed = with_values(loaded, layer, factors, "resid_post")
            cosine = (whole * zeroed).sum(axis=1) / (
                np.linalg.norm(whole, axis=1) * np.linalg.norm(zeroed, axis=1)
            )
            np.testing.assert_allclose(changes[layer][:, key], 1 - cosine, atol=2e-6)
    assert changes.max() > 1e-4


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", [name for name in ARCHITECTURES if name != "DebertaV2Model"])
def test_contributions_are_what_one_value_adds(architecture, tmp_path):
    loaded = encoder(tmp_path, architecture)
    record = capture(loaded, SENTENCE)
    norms = vector_norms_with_residual(loaded.model, record)
    layer = 1
    nothing = with_values(loaded, layer, torch.zeros(len(record)), "attention_out")
    for key in range(len(record)):
        factors = torch.zeros(len(record))
        factors[key] = 1
        terms = with_values(loaded, layer, factors, "attention_out") - nothing
        terms[key] += record.residual[2 * layer, key]
        np.testing.assert_allclose(norms[layer, 0, :, key], np.linalg.norm(terms, axis=1), atol=1e-5)
