"""DINOv3 against `transformers` (eager), with the same weights and odd settings."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from model.loaded import Loaded
from model.record import ForwardRecord
from tests.model.huggingface.folders import build
from tests.model.huggingface.test_parity import compare, output


def forward(model: torch.nn.Module, loaded: Loaded) -> tuple[ForwardRecord, object]:
    """Our record and the output of `transformers` for the same picture, which needs no resizing."""
    config = loaded.config
    side = config.image_size + config.family.pixels.remainder
    shape = (side, side, 3) if config.n_channels == 3 else (side, side)
    picture = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    pixels = torch.tensor(picture).view(side, side, -1).movedim(-1, 0)[None] / 255
    with torch.inference_mode():
        result = model((pixels - 0.5) / 0.5, output_attentions=True, output_hidden_states=True)
    return capture(loaded, picture), result


def read_size(folder: Path, side: int) -> None:
    """Lets the preprocessor ask for pictures of this side."""
    settings = {"size": {"height": side, "width": side}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))


def enlarge(model: torch.nn.Module, folder: Path, factor: float, *names: str) -> None:
    """Multiplies the parameters of these names, so that what they do can be seen in the attention; saves the folder anew."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if any(part in name for part in names):
                parameter.mul_(factor)
    model.save_pretrained(folder)


@pytest.mark.parametrize(
    "changed",
    [
        {"use_gated_mlp": True, "num_register_tokens": 1},
        *(
            pytest.param(values, marks=pytest.mark.slow)
            for values in (
                {},
                {"num_register_tokens": 0, "num_attention_heads": 6, "rope_theta": 7.0},
                {"num_attention_heads": 3, "patch_size": 4, "num_channels": 1, "hidden_act": "silu"},
                {"key_bias": True, "query_bias": False, "value_bias": False, "mlp_bias": False},
                {"proj_bias": False, "mlp_bias": False, "use_gated_mlp": True, "hidden_act": "silu"},
                {"image_size": 56, "patch_size": 14, "layer_norm_eps": 1e-3},
            )
        ),
    ],
)
def test_variants_agree(changed: dict, tmp_path: Path) -> None:
    model = build(tmp_path, "DINOv3ViTModel", **changed)
    enlarge(model, tmp_path, 6, "q_proj", "k_proj", "lambda1")
    loaded = load(tmp_path)
    record, result = forward(model, loaded)
    assert record.pattern.max() > 0.3  # not nearly uniform
    compare(record, loaded, result)
    output(record, loaded, result)


@pytest.mark.parametrize(
    "side", [40, pytest.param(8, marks=pytest.mark.slow), pytest.param(45, marks=pytest.mark.slow)]
)
def test_pictures_are_read_in_the_size_of_the_preprocessor(side: int, tmp_path: Path) -> None:
    model = build(tmp_path, "DINOv3ViTModel")
    enlarge(model, tmp_path, 6, "q_proj", "k_proj")
    read_size(tmp_path, side)
    loaded = load(tmp_path)
    record, result = forward(model, loaded)
    assert len(record) == (side // 8) ** 2 + 5
    compare(record, loaded, result)
    remainder_notes = [note for note in describe(tmp_path).notes if "are not read" in note]
    assert len(remainder_notes) == (side % 8 > 0)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_widened(dtype: torch.dtype, tmp_path: Path) -> None:
    model = build(tmp_path, "DINOv3ViTModel", use_gated_mlp=True)
    model.to(dtype).save_pretrained(tmp_path)
    options = {"dtype": torch.float32, "attn_implementation": "eager"}
    widened = type(model).from_pretrained(tmp_path, **options).eval()
    loaded = load(tmp_path)
    record, result = forward(widened, loaded)
    compare(record, loaded, result)


@pytest.mark.slow
def test_names_that_transformers_has_in_memory_are_read(tmp_path: Path) -> None:
    model = build(tmp_path, "DINOv3ViTModel")
    model.save_pretrained(tmp_path, save_original_format=False)
    loaded = load(tmp_path)
    record, result = forward(model, loaded)
    compare(record, loaded, result)


def test_registers_and_rotation_are_described(tmp_path: Path) -> None:
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
