"""Logits of CLIP and SigLIP, divided among patches, against those of `transformers`."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from scipy.linalg import hadamard
from scipy.special import expit, softmax

from model.checkpoint import load
from model.experiments.faithfulness import deletion_answers, removal_counts, sort_by_score
from model.inputs import prepare
from model.loaded import Loaded
from model.similarity.text_on_picture import text_on_picture
from tests.model import tiny
from tests.model.huggingface.agreement import picture
from tests.model.huggingface.folders import OF_TEXTS, SENTENCE, build

SENTENCES = [SENTENCE, "a long slow story"]
WIDE = {
    "hidden_size": 24,
    "image_size": 32,
    "patch_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
BOTH = {"vision_config": WIDE | {"intermediate_size": 32}, "text_config": OF_TEXTS | {"projection_size": 24}}


def both(folder: Path) -> tuple[Loaded, Loaded]:
    return load(folder / "vision_model"), load(folder / "text_model")


def logits(
    model: torch.nn.Module,
    pictures: Loaded,
    texts: Loaded,
    image: np.ndarray,
    greyed: tuple[int, ...] = (),
) -> np.ndarray:
    """Those of `transformers`, of one picture and the SENTENCES, each by itself; each pixel of `greyed` patches is the picture's mean."""
    pixels, _ = prepare(pictures, image)
    mean = pixels.mean(dim=(-2, -1), keepdim=True)
    for row, column in (divmod(patch, 4) for patch in greyed):
        pixels[..., 8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = mean
    pixels = (pixels - pictures.model.embedding.means) / pictures.model.embedding.deviations
    with torch.inference_mode():
        outputs = [
            model(input_ids=prepare(texts, sentence)[0], pixel_values=pixels) for sentence in SENTENCES
        ]
    return np.array([output.logits_per_image.item() for output in outputs])


def build_with_scale(folder: Path, kind: str) -> torch.nn.Module:
    model = build(folder, f"{kind}Model", **BOTH if kind == "Siglip" else {})
    with torch.no_grad():
        model.logit_scale.fill_(math.log(20))
        if kind == "Siglip":
            model.logit_bias.fill_(-3)
    model.save_pretrained(folder)
    return model


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_maps_and_the_rest_sum_to_the_logits_of_transformers(kind, tmp_path):
    model = build_with_scale(tmp_path, kind)
    pictures, texts = both(tmp_path)
    image, read = picture(32), []
    result = text_on_picture(pictures, texts, image, SENTENCES, progress=read.append)
    assert read == pytest.approx([1 / 3, 2 / 3])
    assert result.scale == pytest.approx(20, rel=1e-6)
    assert result.bias == pytest.approx(-3 if kind == "Siglip" else 0)
    expected = logits(model, pictures, texts, image)
    np.testing.assert_allclose(result.recorded, expected, atol=1e-4)
    np.testing.assert_allclose(result.totals, expected, atol=1e-4)
    assert result.gap < 1e-4
    assert result.maps.shape == (2, 16)
    assert np.abs(result.maps).max() > 1e-3
    probabilities = softmax(expected) if kind == "CLIP" else expit(expected)
    np.testing.assert_allclose(result.probabilities, probabilities, atol=1e-5)
    if kind == "CLIP":
        assert result.pooled_from is None
    else:
        assert result.pooled_from.shape == (16,)
        assert result.pooled_from.sum() == pytest.approx(1, abs=1e-6)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("kind", ["CLIP", "Siglip"])
def test_logits_fall_as_those_of_transformers_when_patches_are_greyed(kind, tmp_path):
    model = build_with_scale(tmp_path, kind)
    pictures, texts = both(tmp_path)
    image = picture(32)
    result = text_on_picture(pictures, texts, image, SENTENCES)
    first = result.positions.patches.start
    order = tuple(first + patch for patch in sort_by_score(result.maps[1], range(16)))
    falls = result.falls(deletion_answers(pictures, image, [order], "grey"))[0]
    expected = [
        result.recorded - logits(model, pictures, texts, image, tuple(index - first for index in order[:n]))
        for n in removal_counts(16)
    ]
    np.testing.assert_allclose(falls, expected, atol=1e-4)
    assert np.abs(falls[-1]).max() > 1e-3


def test_a_planted_patch_is_the_largest_of_its_text(tmp_path):
    """Patches write their colour, and “film” means red, “story” green; heads of one layer copy what they read from all alike."""
    model = build(tmp_path, "CLIPModel")
    of_patches = torch.tensor(hadamard(16)[1:4] / 4, dtype=torch.float32)
    of_tokens = torch.linalg.qr(torch.cat((torch.ones(24, 1), torch.randn(24, 3)), dim=1))[0].T[1:]
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(float(name.endswith("norm.weight") or "layer_norm1.weight" in name))
        vision, text = model.vision_model, model.text_model
        vision.embeddings.patch_embedding.weight[:] = of_patches.T[:, :, None, None]
        for tower in (vision, text):
            attention = tower.encoder.layers[0].self_attn
            for linear in (attention.v_proj, attention.out_proj):
                linear.weight[:] = torch.eye(len(linear.weight))
        model.visual_projection.weight[:3] = of_patches
        for word, direction in zip(("film", "story"), of_tokens, strict=False):
            index = load_token(tmp_path, word)
            text.embeddings.token_embedding.weight[index] = direction
        model.text_projection.weight[:3] = of_tokens
    model.save_pretrained(tmp_path)
    pictures, texts = both(tmp_path)
    image = np.zeros((32, 32, 3), np.uint8)
    image[8:16, 16:24, 0] = 255  # r1c2 is red
    image[24:32, 0:8, 1] = 255  # r3c0 is green
    result = text_on_picture(pictures, texts, image, ["the film", "a story"])
    patches = result.positions.tokens[result.positions.patches]
    assert [patches[index] for index in result.maps.argmax(axis=1)] == ["r1c2", "r3c0"]
    assert (np.sort(result.maps)[:, -1] > 0).all()
    assert (np.sort(result.maps)[:, -2] < 0).all()
    first = result.positions.patches.start
    planted = result.maps.argmax(axis=1)
    without = deletion_answers(pictures, image, [(first + int(index),) for index in planted], "grey")
    falls = result.falls(without[:, 1])
    assert (np.diag(falls) > 0).all()
    assert (falls[[0, 1], [1, 0]] < 0).all()  # what speaks for one text speaks against the other


def load_token(folder: Path, word: str) -> int:
    return load(folder / "text_model").tokenizer.token_to_id(word)


def test_what_is_no_pair_of_one_folder_is_refused(tmp_path):
    build(tmp_path / "one", "CLIPModel")
    build(tmp_path / "two", "CLIPModel")
    (pictures, texts), (_, others) = both(tmp_path / "one"), both(tmp_path / "two")
    message = "are not the vision_model and the text_model of one folder"
    for pair in ((texts, pictures), (pictures, others), (tiny.loaded(tiny.DIGIT), texts)):
        with pytest.raises(ValueError, match=message):
            text_on_picture(*pair, picture(32), SENTENCES)
    for n in (0, 21):
        with pytest.raises(ValueError, match=f"1 to 20 sentences are compared with a picture, got {n}"):
            text_on_picture(pictures, texts, picture(32), ["film"] * n)


def test_vectors_of_different_widths_are_refused(tmp_path):
    build(tmp_path, "SiglipModel")
    with pytest.raises(ValueError, match="of one folder, with vectors of one width"):
        text_on_picture(*both(tmp_path), picture(32), SENTENCES)


def test_weights_without_a_scale_are_refused(tmp_path):
    build(tmp_path, "CLIPModel")
    weights = load_file(tmp_path / "model.safetensors")
    del weights["logit_scale"]
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match="has no logit_scale, the number by which its logits are multiplied"):
        text_on_picture(*both(tmp_path), picture(32), SENTENCES)
