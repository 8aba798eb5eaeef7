"""DINOv3 against `transformers` (eager), with the same weights and odd settings."""

import numpy as np
import pytest

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from tests.model.huggingface.agreement import agree, enlarge, read_size
from tests.model.huggingface.folders import build


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "changed",
    [
        {"use_gated_mlp": True, "num_register_tokens": 1},
        {},
        {"num_register_tokens": 0, "num_attention_heads": 6, "rope_theta": 7.0},
        {"num_attention_heads": 3, "patch_size": 4, "num_channels": 1, "hidden_act": "silu"},
        {"key_bias": True, "query_bias": False, "value_bias": False, "mlp_bias": False},
        {"proj_bias": False, "mlp_bias": False, "use_gated_mlp": True, "hidden_act": "silu"},
        {"image_size": 56, "patch_size": 14, "layer_norm_eps": 1e-3},
    ],
)
def test_variants_agree(changed, tmp_path):
    model = build(tmp_path, "DINOv3ViTModel", **changed)
    enlarge(model, tmp_path, 6, "q_proj", "k_proj", "lambda1")
    assert agree(model, load(tmp_path)).pattern.max() > 0.3  # not nearly uniform


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("side", [40, 8, 45])
def test_pictures_are_read_in_the_size_of_the_preprocessor(side, tmp_path):
    model = build(tmp_path, "DINOv3ViTModel")
    enlarge(model, tmp_path, 6, "q_proj", "k_proj")
    read_size(tmp_path, side)
    assert len(agree(model, load(tmp_path))) == (side // 8) ** 2 + 5
    remainder_notes = [note for note in describe(tmp_path).notes if "are not read" in note]
    assert len(remainder_notes) == (side % 8 > 0)


def test_registers_and_rotation_are_described(tmp_path):
    build(tmp_path, "DINOv3ViTBackbone", num_register_tokens=2, rope_theta=30.0)
    description = describe(tmp_path)
    rows = dict(description.summary)
    assert rows["positions"] == "queries and keys of patches are rotated by row and column (rotary, base 30)"
    assert rows["input"].endswith("with 2 registers")
    assert description.left_out == ("embeddings.mask_token",)
    record = capture(load(tmp_path), np.zeros((32, 32, 3), np.uint8))
    assert record.roles[:4] == ("class", "register", "register", "patch")
    build(tmp_path, "DINOv3ViTModel", num_register_tokens=0)
    assert describe(tmp_path).left_out == ("embeddings.mask_token",)
