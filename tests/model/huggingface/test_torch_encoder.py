import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from model.capture import capture
from model.checkpoint import load
from model.files.encoder_files import WEIGHTS
from model.huggingface import describe
from model.inputs import prepare
from tests.model.huggingface.folders import SENTENCE, VOCABULARY, change_tensors, refusal, tokenizer


class Own(nn.Module):
    """What a user may have built around torch's encoder."""

    def __init__(self, *, norm_first: bool, activation: str) -> None:
        super().__init__()
        self.tok = nn.Embedding(len(VOCABULARY), 16)
        self.pos = nn.Parameter(torch.randn(1, 20, 16))
        layer = nn.TransformerEncoderLayer(
            16, 4, 24, activation=activation, batch_first=True, norm_first=norm_first
        )
        norm = nn.LayerNorm(16) if norm_first else None
        self.encoder = nn.TransformerEncoder(layer, 2, norm=norm, enable_nested_tensor=False)
        self.head = nn.Linear(16, 3)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        states = self.encoder(self.tok(ids) + self.pos[:, : ids.shape[1]])
        return states, self.head(states.mean(dim=1))


NAMES = {"embedding": "tok.weight", "positions": "pos", "classifier": "head"}  # in an `Own`


def save(folder: Path, model: nn.Module, **values: object) -> None:
    values = {"model_type": "torch.nn.TransformerEncoder", "n_heads": 4} | values
    (folder / "config.json").write_text(json.dumps(values))
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, folder / WEIGHTS)
    tokenizer().save(str(folder / "tokenizer.json"))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_torchs_own_encoder_agrees(tmp_path, norm_first, activation):
    torch.manual_seed(0)
    model = Own(norm_first=norm_first, activation=activation).eval()
    save(tmp_path, model, norm_first=norm_first, activation=activation, names=NAMES)
    loaded = load(tmp_path)
    with torch.inference_mode():
        states, logits = model(prepare(loaded, SENTENCE)[0])
    record = capture(loaded, SENTENCE)
    final = loaded.model.final_norm(torch.tensor(np.array(record.residual[-1])))
    np.testing.assert_allclose(final.detach(), states[0], atol=1e-5)
    np.testing.assert_allclose(record.logits, logits[0], atol=1e-5)
    assert loaded.config.norm_placement == ("pre" if norm_first else "post")
    assert dict(describe(tmp_path).summary)["layers × heads"] == "2 × 4"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({}, "embedding.weight is missing from the weights"),
        (NAMES | {"classifier": "absent"}, "absent.weight is missing from the weights"),
        ({"embedding": "pos", "other": "x"}, "names must say which tensors are"),
        ([], "names must say which tensors are"),
    ],
)
def test_names_that_are_not_there_are_said(tmp_path, names, message):
    save(tmp_path, Own(norm_first=True, activation="relu"), names=names)
    assert message in refusal(tmp_path)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("pos", (40, 8)),
        ("pos", (5, 4, 16)),
        ("pos", (16,)),
        ("encoder.layers.0.self_attn.in_proj_weight", ()),
    ],
)
def test_a_tensor_of_another_shape_is_refused(tmp_path, name, shape):
    save(tmp_path, Own(norm_first=False, activation="relu"), names=NAMES)
    change_tensors(tmp_path, {name: torch.ones(shape)})
    assert f"{name} has shape {shape}, but should" in refusal(tmp_path)


@pytest.mark.slow
def test_layers_without_numbers_are_not_built(tmp_path):
    save(tmp_path, Own(norm_first=False, activation="relu"), names=NAMES)
    names = [f"encoder.layers.{index}.self_attn.in_proj_weight" for index in range(2, 3_000)]
    change_tensors(tmp_path, {name: torch.ones(0) for name in names})
    assert "layers.2" in refusal(tmp_path)


class Tutorial(nn.Module):
    """PyTorch's tutorial on language models: sequence first, embeddings times √d, sinusoids in the buffer `pe` [n, 1, d]."""

    def __init__(self, *, bias: bool) -> None:
        super().__init__()
        self.emb = nn.Embedding(len(VOCABULARY), 16)
        angle = torch.arange(50)[:, None] * torch.exp(torch.arange(0, 16, 2) * (-math.log(10000.0) / 16))
        self.register_buffer("pe", torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)[:, None])
        layer = nn.TransformerEncoderLayer(16, 4, 24, bias=bias)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.linear = nn.Linear(16, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states = self.emb(ids.T) * math.sqrt(16)
        return self.linear(self.encoder(states + self.pe[: len(states)]).mean(dim=0))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("positions", [{}, {"positions": "pe"}])
def test_pytorchs_tutorial_agrees(tmp_path, bias, positions):
    torch.manual_seed(1)
    model = Tutorial(bias=bias).eval()
    names = {"embedding": "emb.weight", "classifier": "linear"} | positions
    save(tmp_path, model, embedding_scaled=True, names=names)
    loaded = load(tmp_path)
    with torch.inference_mode():
        logits = model(prepare(loaded, SENTENCE)[0])
    np.testing.assert_allclose(capture(loaded, SENTENCE).logits, logits[0], atol=1e-5)
    assert loaded.config.n_positions == (50 if positions else 512)
    # the buffer holds sinusoids, which are computed where it is not named; it could hold anything
    noted = [note for note in describe(tmp_path).notes if "names no positions" in note]
    assert bool(noted) != bool(positions)
    assert all("; pe is not read" in note for note in noted)
