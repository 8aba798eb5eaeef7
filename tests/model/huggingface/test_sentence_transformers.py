import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from tests.model.huggingface.folders import SENTENCE, build

TYPES = "sentence_transformers.models."


def modules(folder: Path, *listed: tuple[str, str]) -> None:
    each = [{"idx": at, "type": TYPES + kind, "path": path} for at, (kind, path) in enumerate(listed)]
    (folder / "modules.json").write_text(json.dumps(each))


def pooling(folder: Path, **modes: object) -> None:
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 24, **modes}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build(tmp_path / "it", "BertModel")
    modules(tmp_path / "it", ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))
    pooling(tmp_path / "it", pooling_mode_mean_tokens=True, pooling_mode_cls_token=False)
    return tmp_path / "it"


@pytest.mark.parametrize(
    ("modes", "pooled"),
    [
        ({"pooling_mode_mean_tokens": True}, lambda states: states.mean(axis=0)),
        ({"pooling_mode_cls_token": True}, lambda states: states[0]),
        ({"pooling_mode_max_tokens": True}, lambda states: states.max(axis=0)),
        ({"pooling_mode": "mean"}, lambda states: states.mean(axis=0)),
    ],
)
def test_states_are_pooled_as_the_folder_says(folder: Path, modes: dict, pooled: object) -> None:
    pooling(folder, **modes)
    record = capture(load(folder), SENTENCE)
    assert not record.has_classes
    np.testing.assert_allclose(record.pooled, pooled(record.residual[-1]), atol=1e-6)


@pytest.mark.parametrize(
    "architecture", ["ModernBertForSequenceClassification", "NomicBertModel", "EuroBertModel"]
)
def test_encoders_with_rotary_positions_are_pooled_too(architecture: str, tmp_path: Path) -> None:
    build(tmp_path, architecture)
    modules(tmp_path, ("Transformer", ""), ("Pooling", "1_Pooling"))
    pooling(tmp_path, pooling_mode="mean")
    loaded = load(tmp_path)
    record = capture(loaded, SENTENCE)
    assert not record.has_classes
    states = loaded.model.final_norm(torch.tensor(record.residual[-1])).numpy()
    np.testing.assert_allclose(record.pooled, states.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_a_linear_map_behind_pooling_is_applied(folder: Path, bias: bool) -> None:
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    (folder / "2_Dense").mkdir()
    settings = {
        "in_features": 24,
        "out_features": 7,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    (folder / "2_Dense" / "config.json").write_text(json.dumps(settings))
    weight, shift = torch.randn(7, 24), torch.randn(7)
    save_file(
        {"linear.weight": weight} | ({"linear.bias": shift} if bias else {}),
        folder / "2_Dense" / "model.safetensors",
    )
    record = capture(load(folder), SENTENCE)
    mean = torch.tensor(record.residual[-1].mean(axis=0))
    torch.testing.assert_close(torch.tensor(record.pooled), (weight @ mean + shift * bias).tanh())


def test_the_encoder_may_lie_in_a_folder_of_its_own(folder: Path) -> None:
    before = capture(load(folder), SENTENCE).pooled
    inner = folder / "0_Transformer"
    inner.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).rename(inner / name)
    modules(folder, ("Transformer", "0_Transformer"), ("Pooling", "1_Pooling"))
    np.testing.assert_array_equal(capture(load(folder), SENTENCE).pooled, before)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ([("Transformer", "../other")], "modules.json names the folder '../other'"),
        ([("Transformer", "/tmp")], "modules.json names the folder '/tmp'"),
        ([("Transformer", ""), ("Pooling", "9_Pooling")], "config.json cannot be read"),
    ],
)
def test_modules_outside_the_folder_are_refused(folder: Path, listed: list, said: str) -> None:
    modules(folder, *listed)
    assert said in describe(folder).problem


def test_poolings_that_are_not_read_are_named(folder: Path) -> None:
    pooling(folder, pooling_mode_mean_tokens=True, pooling_mode_cls_token=True)
    assert "the pooling is mean, class; supported are" in describe(folder).problem
    pooling(folder, pooling_mode_lasttoken=True)
    assert "the pooling is lasttoken" in describe(folder).problem
    (folder / "modules.json").write_text("{}")
    assert describe(folder).problem == "modules.json must hold a list of modules"


def test_other_modules_are_left_out_and_named(folder: Path) -> None:
    modules(folder, ("Transformer", ""), ("Pooling", "1_Pooling"), ("WordWeights", "3_WordWeights"))
    assert "3_WordWeights (WordWeights)" in describe(folder).left_out
