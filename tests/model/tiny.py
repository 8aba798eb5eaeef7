"""Tiny encoders with random weights, and a tokenizer that knows letters and a few words."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from tokenizers.processors import TemplateProcessing

from model.checkpoint import load, save
from model.config import ModelConfig, preset
from model.inputs.text import CLASS, SEPARATOR, SPECIAL_TOKENS, UNKNOWN
from model.loaded import Loaded
from model.transformer import Transformer

TEXT = ModelConfig(
    d_model=8,
    n_layers=2,
    n_heads=2,
    d_k=4,
    d_v=4,
    d_ff=16,
    n_positions=12,
    class_names=("negative", "positive"),
    vocab_size=100,
    padding_id=0,
)
DIGIT = ModelConfig(
    d_model=8,
    n_layers=2,
    n_heads=2,
    d_k=3,
    d_v=5,
    d_ff=16,
    n_positions=5,
    class_names=tuple("0123456789"),
    image_size=8,
    patch_size=4,
    positions="learned",
)


def small(name: str) -> ModelConfig:
    """A preset; the two that are only counted with an eighth of their widths and a short vocabulary."""
    config = preset(name)
    if name not in ("base", "big"):
        return config
    eighths = {width: getattr(config, width) // 8 for width in ("d_model", "d_k", "d_v", "d_ff")}
    return replace(config, **eighths, n_layers=2, vocab_size=300)


SENTENCE = "This is not a great film, it is the greatest of films."


def an_input(config: ModelConfig) -> str | np.ndarray:
    """A sentence, or a picture of 28 × 28 pixels."""
    image = np.random.default_rng(1).integers(0, 256, (28, 28), dtype=np.uint8)
    return SENTENCE if config.is_text else image


def build(config: ModelConfig, seed: int = 0) -> Transformer:
    """In evaluation mode; biases and norms are random as well, so that no part can be left out unnoticed."""
    torch.manual_seed(seed)
    model = Transformer(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def loaded(config: ModelConfig, seed: int = 0) -> Loaded:
    return Loaded(
        name="tiny",
        model=build(config, seed),
        tokenizer=tokenizer(config.n_positions) if config.is_text else None,
        history={},
        device=torch.device("cpu"),
    )


def stored(folder: Path, config: ModelConfig = TEXT, seed: int = 0) -> Loaded:
    """The encoder, saved in a folder of its own and loaded from there."""
    made = loaded(config, seed)
    save(folder, made.model, {}, made.tokenizer)
    return load(folder, "cpu")


def tokenizer(n_positions: int) -> Tokenizer:
    words = ("great", "film", "not", "##s")
    made = _of_pieces(*words, *ascii_lowercase, *(f"##{letter}" for letter in ascii_lowercase), ".")
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.enable_truncation(n_positions)
    return made


AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


def amino_acids(n_positions: int) -> Tokenizer:
    """Of an encoder of proteins: it knows single letters, and takes a word of several for one unknown token."""
    made = _of_pieces(*AMINO_ACIDS)
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.enable_truncation(n_positions)
    return made


def _of_pieces(*pieces: str) -> Tokenizer:
    ids = {piece: index for index, piece in enumerate(dict.fromkeys((*SPECIAL_TOKENS, *pieces)))}
    made = Tokenizer(WordPiece(ids, unk_token=UNKNOWN))
    made.add_special_tokens(list(SPECIAL_TOKENS))
    ends = [(name, ids[name]) for name in (CLASS, SEPARATOR)]
    made.post_processor = TemplateProcessing(single=f"{CLASS} $A {SEPARATOR}", special_tokens=ends)
    return made


def changed_at(index: tuple, change) -> Callable[[torch.Tensor], torch.Tensor]:
    """A watcher that puts at `index` of an activation what `change` makes of it, or the number or tensor `change` itself."""

    def changed(activation: torch.Tensor) -> torch.Tensor:
        activation = activation.clone()
        activation[index] = change(activation[index]) if callable(change) else change
        return activation

    return changed


# For what two ways of computing the same should differ by: sums of a few dozen float32 near 1, over a few layers.
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
_SENTENCE = "great film not a x y"
_IMAGE = np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint8)
_POST = {"norm_placement": "post", "final_norm": False}
ENCODERS = {
    "text pre": (loaded(TEXT), _SENTENCE),
    "text post": (loaded(replace(TEXT, embedding_scaled=True, **_POST)), _SENTENCE),
    "text learned mean": (loaded(replace(TEXT, positions="learned", pooling="mean")), _SENTENCE),
    "digit pre": (loaded(DIGIT), _IMAGE),
    "digit post": (loaded(replace(DIGIT, **_POST)), _IMAGE),
    "digit sinusoidal max": (
        loaded(replace(DIGIT, n_positions=4, pooling="max", positions="sinusoidal")),
        _IMAGE,
    ),
}
encoders = pytest.mark.parametrize(("loaded", "given_input"), ENCODERS.values(), ids=ENCODERS)
