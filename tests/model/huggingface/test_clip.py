"""CLIP's and SigLIP's encoders of pictures and of texts against `transformers` (eager), alone and two in a folder."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.capture import capture
from model.checkpoint import load
from model.inputs import Text, prepare
from model.loaded import Loaded
from model.record import ForwardRecord
from tests.model.huggingface.folders import SENTENCE, build
from tests.model.huggingface.test_parity import CLOSE

VISION = [
    ("CLIPVisionModel", {}),
    ("CLIPVisionModel", {"hidden_act": "gelu", "num_attention_heads": 2, "patch_size": 4, "num_channels": 1}),
    ("CLIPVisionModelWithProjection", {}),
    ("CLIPVisionModelWithProjection", {"projection_dim": 30, "layer_norm_eps": 1e-3}),
    ("CLIPForImageClassification", {"num_labels": 3}),
    ("CLIPForImageClassification", {"num_labels": 1}),
    ("CLIPForImageClassification", {"num_labels": 0}),
    ("SiglipVisionModel", {}),
    ("SiglipVisionModel", {"vision_use_head": False, "hidden_act": "gelu"}),
    ("SiglipVisionModel", {"num_attention_heads": 6, "image_size": 30, "patch_size": 8}),
    ("SiglipForImageClassification", {"num_labels": 3}),
]
TEXTS = [
    ("CLIPTextModel", {}),
    ("CLIPTextModel", {"eos_token_id": 2, "hidden_act": "gelu", "num_attention_heads": 6}),
    ("CLIPTextModel", {"eos_token_id": 7}),
    ("CLIPTextModel", {"eos_token_id": 20, "pad_token_id": 5}),
    ("CLIPTextModelWithProjection", {}),
    ("CLIPTextModelWithProjection", {"projection_dim": 50, "eos_token_id": 2}),
    ("SiglipTextModel", {}),
    ("SiglipTextModel", {"max_position_embeddings": 13, "hidden_act": "quick_gelu"}),
]
FAST = {"CLIPVisionModel", "CLIPTextModel", "SiglipVisionModel"}


def one_fast_of(cases: list[tuple[str, dict]]) -> list[Any]:
    """All cases, those marked as slow that share the code of the first one of a family."""
    return [
        pytest.param(*case, marks=() if case[0] in FAST and not case[1] else pytest.mark.slow)
        for case in cases
    ]


def picture(side: int, channels: int = 3) -> np.ndarray:
    shape = (side, side, 3) if channels == 3 else (side, side)
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


def pixels_of(pixels: np.ndarray) -> torch.Tensor:
    """As `transformers` reads them, normalised by the assumed means and deviations of 0.5."""
    tensor = torch.tensor(pixels)
    tensor = tensor.movedim(-1, 0)[None] if pixels.ndim == 3 else tensor[None, None]
    return (tensor / 255 - 0.5) / 0.5


def theirs(model: torch.nn.Module, loaded: Loaded, given: np.ndarray | Text, **options: Any) -> Any:
    """The output of `transformers` for the same picture, or the same tokens."""
    first = pixels_of(given) if isinstance(given, np.ndarray) else prepare(loaded, given)[0]
    with torch.inference_mode():
        return model(first, output_attentions=True, output_hidden_states=True, **options)


def compare(record: ForwardRecord, expected: Any) -> None:
    """Attention of all layers, the states after each of them, and what the encoder hands over."""
    patterns = np.stack([pattern[0].numpy() for pattern in expected.attentions])
    np.testing.assert_allclose(record.pattern, patterns, **CLOSE)
    states = np.stack([state[0].numpy() for state in expected.hidden_states])
    np.testing.assert_allclose(record.residual[::2], states, **CLOSE)
    if getattr(expected, "logits", None) is not None:
        np.testing.assert_allclose(record.logits, expected.logits[0], **CLOSE)
        return
    pooled = (getattr(expected, name, None) for name in ("image_embeds", "text_embeds", "pooler_output"))
    expected_pooled = next((value[0] for value in pooled if value is not None), None)
    if expected_pooled is None:  # SigLIP without its head
        expected_pooled = expected.last_hidden_state[0].mean(dim=0)
    np.testing.assert_allclose(record.pooled, expected_pooled, **CLOSE)


@pytest.mark.parametrize(("architecture", "changed"), one_fast_of(VISION))
def test_encoders_of_pictures_agree(architecture: str, changed: dict, tmp_path: Path) -> None:
    model = build(tmp_path, architecture, **changed)
    loaded = load(tmp_path)
    given = picture(changed.get("image_size", 32), loaded.config.n_channels)
    record = capture(loaded, given)
    if "ForImage" in architecture and not changed["num_labels"]:
        expected = theirs(model.vision_model, loaded, given)
    else:
        expected = theirs(model, loaded, given)
    compare(record, expected)
    assert record.mask.all()
    last_state = getattr(expected, "last_hidden_state", None)
    if last_state is not None:
        with torch.inference_mode():
            normed = loaded.model.final_norm(torch.tensor(np.array(record.residual[-1]))).numpy()
        # CLIP's last norm is for the class token alone, SigLIP's for all states
        handed_over = record.residual[-1] if architecture.startswith("CLIP") else normed
        np.testing.assert_allclose(handed_over, last_state[0], **CLOSE)


@pytest.mark.parametrize(("architecture", "changed"), one_fast_of(TEXTS))
def test_encoders_of_texts_agree(architecture: str, changed: dict, tmp_path: Path) -> None:
    model = build(tmp_path, architecture, **changed)
    loaded = load(tmp_path)
    for given in (Text(SENTENCE), Text("a film"), Text("the [SEP] film [PAD] [SEP]")):
        record = capture(loaded, given)
        expected = theirs(model, loaded, given)
        compare(record, expected)
        with torch.inference_mode():
            normed = loaded.model.final_norm(torch.tensor(np.array(record.residual[-1]))).numpy()
        np.testing.assert_allclose(normed, expected.last_hidden_state[0], **CLOSE)
        n = len(record)
        is_allowed = np.tri(n, dtype=bool) if architecture.startswith("CLIP") else np.ones((n, n), bool)
        assert (record.mask == is_allowed).all()
        assert not record.pattern[~record.mask].any()
