"""Encoders on which every lens is tried, and two tokens in two dimensions to be worked by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from model.capture import capture
from model.checkpoint import load
from model.config import ModelConfig
from model.inputs import InputLike
from model.loaded import Loaded
from model.record import ForwardRecord
from tests.model import tiny
from tests.model.huggingface.folders import SENTENCE, build

TEXT = "not great film"
_POST = {"norm_placement": "post", "final_norm": False}
PLACEMENTS = {
    "pre": tiny.TEXT,
    "post": replace(tiny.TEXT, **_POST),
    "deepnorm": replace(tiny.TEXT, norm_placement="deepnorm", final_norm=False),
    "b2t": replace(tiny.TEXT, norm_placement="b2t", final_norm=False),
    "pre without residual": replace(tiny.TEXT, residual=False),
    "post without residual": replace(tiny.TEXT, residual=False, **_POST),
    "mean": replace(tiny.TEXT, pooling="mean"),
    "max": replace(tiny.TEXT, pooling="max", **_POST),
    "without classes": replace(tiny.TEXT, class_names=(), pooling="mean"),
    "digit": tiny.DIGIT,
}
IMPORTED = {
    "BertModel": {},
    "MPNetForMaskedLM": {},
    "AlbertModel": {},
    "RobertaPreLayerNormForSequenceClassification": {},
    "ViTForImageClassification": {"qkv_bias": False, "num_channels": 1},
    "DeiTForImageClassificationWithTeacher": {"num_channels": 1},
}
# Biased, disentangled or rotated scores, and keys that heads share.
OF_OTHER_PARTS = ("T5EncoderModel", "UMT5EncoderModel", "DebertaV2Model", "ModernBertModel", "EuroBertModel")


def read_by(name: str, folder: Path) -> tuple[Loaded, InputLike]:
    """One of the encoders above, and an input for it; `folder` is where one from elsewhere is put."""
    if name in PLACEMENTS:
        config = PLACEMENTS[name]
        image = np.random.default_rng(0).integers(0, 256, (8, 8), dtype=np.uint8)
        return tiny.loaded(config), TEXT if config.is_text else image
    build(folder / name, name, **IMPORTED.get(name, {}))
    loaded = load(folder / name)
    image = np.random.default_rng(0).integers(0, 256, (32, 32), dtype=np.uint8)
    return loaded, SENTENCE if loaded.config.is_text else image


def by_hand(norm_placement: str = "pre", **changed: object) -> tuple[Loaded, ForwardRecord]:
    """Two tokens, one layer, one head: every map is the identity or, in the feed-forward, zero.

    x = (1, 0), (0, 1); v = (3, 4), (0, 2); A = ¼ ¾, ½ ½. So behind the attention stand (1.75, 2.5) and (1.5, 4).
    """
    sizes = {"d_model": 2, "n_layers": 1, "n_heads": 1, "d_k": 2, "d_v": 2, "d_ff": 2, "n_positions": 2}
    config = ModelConfig(
        **sizes,
        class_names=("first", "second"),
        image_size=2,
        patch_size=2,
        positions="learned",
        norm_placement=norm_placement,
        final_norm=False,
        layer_norm_eps=1e-12,
        **changed,
    )
    loaded = tiny.loaded(config)
    with torch.no_grad():
        for parameter in loaded.model.parameters():
            parameter.zero_()
        (block,) = loaded.model.blocks
        for norm in (block.norm_attention, block.norm_feed_forward):
            norm.weight.fill_(1)
        for part in (block.attention.w_v, block.attention.w_o):
            part.weight.copy_(torch.eye(2))
    record = capture(loaded, np.zeros((2, 2), np.uint8))
    x = np.eye(2, dtype=np.float32)
    v = np.array([[[[3, 4], [0, 2]]]], np.float32)
    pattern = np.array([[[[0.25, 0.75], [0.5, 0.5]]]], np.float32)
    u = x + (pattern @ v)[0, 0]
    if norm_placement == "pre":
        residual = np.stack([x, u, u])
    else:
        mid = (u - u.mean(axis=1, keepdims=True)) / u.std(axis=1, keepdims=True)
        residual = np.stack([x, mid, mid])  # a second LayerNorm finds mean 0 and variance 1
    return loaded, replace(record, pattern=pattern, v=v, z=pattern @ v, residual=residual)
