"""BEiT and data2vec for pictures against `transformers` (eager), with the same weights and odd settings."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model.checkpoint import load
from model.huggingface import describe
from model.huggingface.tensor_map import Grid, OffsetTable
from model.record import ForwardRecord
from tests.model.huggingface.agreement import (
    CLOSE,
    agree,
    compare_states,
    enlarge,
    forwards,
    read_size,
)
from tests.model.huggingface.folders import build

BOTH = {"use_relative_position_bias": True, "use_shared_relative_position_bias": True}
ATTENDING = ("q_proj", "k_proj", "query", "key", "bias_table")  # names of what makes the attention


def pooled_as_configured(record: ForwardRecord, states: torch.Tensor, pools_patches: bool) -> None:
    """Compares the pooled state of an encoder for which `transformers` has no pooler."""
    expected = states[1:].mean(dim=0) if pools_patches else states[0]
    np.testing.assert_allclose(record.pooled, expected, **CLOSE)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "changed"),
    [
        ("BeitForImageClassification", {"num_labels": 3}),
        ("BeitModel", {}),
        ("BeitModel", {"use_mean_pooling": False, "layer_scale_init_value": 0.0}),
        ("BeitForImageClassification", {"use_mean_pooling": False, **BOTH}),
        ("BeitForImageClassification", {"use_absolute_position_embeddings": True, "num_labels": 1}),
        ("BeitModel", {"use_relative_position_bias": False, "use_shared_relative_position_bias": True}),
        ("BeitModel", {"use_relative_position_bias": False, "use_absolute_position_embeddings": True}),
        ("BeitModel", {"num_attention_heads": 3, "patch_size": 4, "num_channels": 1, "hidden_act": "relu"}),
        ("BeitModel", {"image_size": 8, "layer_norm_eps": 1e-3}),
        ("Data2VecVisionForImageClassification", {"num_labels": 3}),
        ("Data2VecVisionForImageClassification", {"use_mean_pooling": False, **BOTH}),
        ("Data2VecVisionForImageClassification", {"use_absolute_position_embeddings": True}),
    ],
)
def test_variants_agree(architecture, changed, tmp_path):
    model = build(tmp_path, architecture, **changed)
    enlarge(model, tmp_path, 8, *ATTENDING)
    record = agree(model, load(tmp_path))
    assert record.pattern.max() > 0.3  # not nearly uniform
    assert record.has_class_token == (not changed.get("use_mean_pooling", True))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("pools_patches", [True, False])
def test_an_output_for_hidden_patches_is_left_out(pools_patches, tmp_path):
    settings = {"use_mean_pooling": pools_patches, "use_mask_token": True, "vocab_size": 50, **BOTH}
    model = build(tmp_path, "BeitForMaskedImageModeling", **settings)
    loaded = load(tmp_path)
    record, result = forwards(model, loaded)
    compare_states(record, loaded, result)
    _, states = forwards(model.beit, loaded)
    pooled_as_configured(record, states.last_hidden_state[0], pools_patches)
    description = describe(tmp_path)
    assert any("visual tokens of hidden patches is left out" in note for note in description.notes)
    assert {name.split(".")[0] for name in description.left_out} == {"beit", "layernorm", "lm_head"}
    assert "beit.embeddings.mask_token" in description.left_out


@pytest.mark.slow
@pytest.mark.parametrize("pools_patches", [True, False])
def test_data2vec_without_a_pooler_is_pooled_as_configured(pools_patches, tmp_path):
    model = build(tmp_path, "Data2VecVisionModel", use_mean_pooling=pools_patches, **BOTH)
    loaded = load(tmp_path)
    record, result = forwards(model, loaded)
    compare_states(record, loaded, result)
    pooled_as_configured(record, result.last_hidden_state[0], pools_patches)


@pytest.mark.slow
def test_an_output_for_pixels_is_left_out(tmp_path):
    model = build(tmp_path, "BeitForSemanticSegmentation", num_hidden_layers=4, out_indices=[0, 1, 2, 3])
    loaded = load(tmp_path)
    record, result = forwards(model.beit, loaded)
    compare_states(record, loaded, result)
    assert any("a class to each pixel is left out" in note for note in describe(tmp_path).notes)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("architecture", "side"),
    [
        ("BeitForImageClassification", 40),
        ("BeitForImageClassification", 8),
        ("BeitForImageClassification", 16),
        ("BeitForImageClassification", 61),
        ("Data2VecVisionForImageClassification", 48),
    ],
)
def test_tables_are_interpolated_to_the_size_of_the_preprocessor(architecture, side, tmp_path):
    model = build(tmp_path, architecture, use_absolute_position_embeddings=True, **BOTH)
    enlarge(model, tmp_path, 8, *ATTENDING)
    read_size(tmp_path, side)
    assert len(agree(model, load(tmp_path))) == (side // 8) ** 2 + 1
    notes = " ".join(describe(tmp_path).notes)
    assert "Its position vectors and biases by offset were learned for 32 × 32 pixels" in notes


def test_indices_that_older_files_hold_are_not_called_left_out(tmp_path):
    build(tmp_path, "BeitModel")
    path = tmp_path / "model.safetensors"
    name = "encoder.layer.0.attention.attention.relative_position_bias.relative_position_index"
    save_file(load_file(path) | {name: torch.zeros(17, 17, dtype=torch.int64)}, path)
    assert describe(tmp_path).left_out == ()


@pytest.mark.parametrize(
    ("by_layer", "is_shared", "phrase"),
    [
        (True, False, "in each layer its own"),
        (False, True, "the same in all layers"),
        (True, True, "in each layer its own beside one for all layers"),
    ],
)
def test_the_bias_is_described(by_layer, is_shared, phrase, tmp_path):
    settings = {"use_relative_position_bias": by_layer, "use_shared_relative_position_bias": is_shared}
    build(tmp_path, "BeitModel", num_hidden_layers=1, **settings)
    description = describe(tmp_path)
    rows = dict(description.summary)
    assert rows["positions"] == f"a bias on each score by the rows and columns between two patches, {phrase}"
    assert rows["output"] == "an embedding of 24 numbers: the mean of the patches' states"
    assert description.config.has_distance_bias


def test_a_table_of_one_patch_is_spread_over_the_grid():
    table = torch.tensor([[2.0], [3.0], [4.0], [5.0]])  # one offset, and the three of the class token
    fitted = OffsetTable(stored_grid=Grid(1, 1), read_grid=Grid(2, 2)).fit(table)
    np.testing.assert_array_equal(fitted[:, 0], [*[2.0] * 9, 3.0, 4.0, 5.0])
    # of 3 × 3 offsets 5 × 5 are made: the middle stays the middle
    table = torch.arange(12.0)[:, None]
    fitted = OffsetTable(stored_grid=Grid(2, 2), read_grid=Grid(3, 3)).fit(table)
    assert fitted.shape == (28, 1)
    np.testing.assert_allclose(fitted[[12, 25, 26, 27], 0], [4.0, 9.0, 10.0, 11.0])
