import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from model.inputs import prepare
from tests.model.huggingface.folders import SENTENCE, VOCABULARY, tokenizer


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


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_torchs_own_encoder_agrees(tmp_path: Path, norm_first: bool, activation: str) -> None:
    torch.manual_seed(0)
    model = Own(norm_first=norm_first, activation=activation).eval()
    values = {
        "model_type": "torch.nn.TransformerEncoder",
        "n_heads": 4,
        "norm_first": norm_first,
        "activation": activation,
        "names": {"embedding": "tok.weight", "positions": "pos", "classifier": "head"},
    }
    (tmp_path / "config.json").write_text(json.dumps(values))
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    loaded = load(tmp_path)
    with torch.inference_mode():
        states, logits = model(prepare(loaded, SENTENCE)[0])
    record = capture(loaded, SENTENCE)
    final = loaded.model.final_norm(torch.tensor(np.array(record.residual[-1])))
    np.testing.assert_allclose(final.detach(), states[0], atol=1e-5)
    np.testing.assert_allclose(record.logits, logits[0], atol=1e-5)
    assert loaded.config.norm_placement == ("pre" if norm_first else "post")
    assert dict(describe(tmp_path).summary)["layers × heads"] == "2 × 4"


def test_names_that_are_not_there_are_said(tmp_path: Path) -> None:
    model = Own(norm_first=True, activation="relu")
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    for names, said in (
        ({}, "embedding.weight is missing from the weights"),
        ({"embedding": "pos", "other": "x"}, "names must say which tensors are"),
        ([], "names must say which tensors are"),
    ):
        values = {"model_type": "torch.nn.TransformerEncoder", "n_heads": 4, "names": names}
        (tmp_path / "config.json").write_text(json.dumps(values))
        assert said in describe(tmp_path).problem
