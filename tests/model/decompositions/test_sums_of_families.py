"""In every family, parts sum to the answer and to the score that were recorded.

`python -m tests.model.decompositions.test_sums_of_families` prints the table of `docs/encoders.md`.
"""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model.checkpoint import load
from model.decompositions.answer_parts import answer_parts
from model.decompositions.score_parts import score_parts
from model.experiments.attribution import Explained, Similarity
from model.experiments.masked_word import MaskedWord
from model.inputs import InputLike
from model.loaded import Loaded
from tests.model import tiny
from tests.model.huggingface.agreement import picture
from tests.model.huggingface.folders import build, slow_but_bert_and_vit, tokenizer
from tests.model.huggingface.sentence_folders import build_sentence_encoder, modules, pooling
from tests.model.huggingface.test_clip import TEXTS, VISION
from tests.model.huggingface.test_parity import PICTURES, TEXT, VARIANTS
from tests.model.huggingface.test_sentence_transformers import dense
from tests.model.huggingface.test_torch_encoder import Own

LARGEST_GAP = 1e-5  # of the largest part
GRID_BIASES = {"use_relative_position_bias": True, "use_shared_relative_position_bias": True}
OTHERS = [
    ("BeitModel", {}),
    ("BeitForImageClassification", {"use_mean_pooling": False, **GRID_BIASES}),
    ("BeitForImageClassification", {"use_absolute_position_embeddings": True, "num_labels": 1}),
    ("Data2VecVisionForImageClassification", {"num_labels": 3}),
    ("DINOv3ViTModel", {}),
    ("DINOv3ViTModel", {"num_register_tokens": 0, "num_attention_heads": 6, "rope_theta": 7.0}),
    ("DINOv3ViTModel", {"proj_bias": False, "mlp_bias": False, "use_gated_mlp": True, "hidden_act": "silu"}),
    ("BertForSequenceClassification", {"problem_type": "multi_label_classification", "num_labels": 4}),
]
MASKED = "the film is not [MASK] at all ."


class Gaps(NamedTuple):
    """The number of parts of an answer, and the largest gaps of answers and of scores as shares of their largest part."""

    n_parts: int
    answers: float
    scores: float


def check(loaded: Loaded, model_input: InputLike | None = None) -> Gaps:
    """The sums of each kind of answer that the encoder has, and of scores of its first and last layer."""
    config = loaded.config
    other: InputLike = (
        "a long slow story"
        if config.is_text
        else picture(config.image_sides[0], n_channels=config.n_channels)
    )
    answers: list[Explained] = [None, Similarity(other)]
    if config.masked_token_output and "[MASK]" in str(model_input):
        answers.append(MaskedWord(5, token_id=8))
    answer_gaps, score_gaps = [], []
    for answer in answers:
        for by_token in (True, False):
            parts = answer_parts(loaded, model_input, answer, by_token=by_token)
            answer_gaps.append(parts.gap / parts.frame["value"].abs().max())
            assert answer_gaps[-1] <= LARGEST_GAP, answer
            assert np.isfinite(parts.recorded)
    for layer in {0, config.n_layers - 1}:
        scores = score_parts(loaded, model_input, layer, config.n_heads - 1, 3, 2)
        score_gaps.append(scores.gap / np.abs(scores.frame.to_numpy()).max())
        assert score_gaps[-1] <= LARGEST_GAP, layer
        assert np.isfinite(scores.recorded)
    return Gaps(len(parts.frame), max(answer_gaps), max(score_gaps))


def check_family(folder: Path, architecture: str, **changed: Any) -> Gaps:
    build(folder, architecture, **changed)
    loaded = load(folder)
    config = loaded.config
    if config.is_text:
        return check(loaded, MASKED)
    side = config.image_sides[0] + config.family.pixels.remainder
    return check(loaded, picture(side, n_channels=config.n_channels))


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("architecture", slow_but_bert_and_vit([*TEXT, *PICTURES]))
def test_each_family(architecture, tmp_path):
    check_family(tmp_path, architecture)


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "changed"), [*VARIANTS, *VISION, *TEXTS, *OTHERS])
def test_each_variant(architecture, changed, tmp_path):
    check_family(tmp_path, architecture, **changed)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "changed",
    [
        {"norm_placement": "deepnorm", "embedding_norm": True},
        {"norm_placement": "b2t", "pooling": "max"},
        {"norm_placement": "post", "final_norm": False, "embedding_scaled": True},
        {"norm_placement": "pre", "residual": False, "positions": "none"},
        {"shared_qkv": True, "pooling": "mean", "activation": "silu"},
        {"masked_token_output": True, "activation": "relu", "class_names": ()},
    ],
)
def test_each_option_of_the_own_encoders(changed):
    check(tiny.loaded(replace(tiny.TEXT, **changed)), "great film not a [MASK] y")


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("changed", [{}, {"pooling": "mean", "n_positions": 4}, {"norm_placement": "post"}])
def test_encoders_of_digits(changed, image):
    check(tiny.loaded(replace(tiny.DIGIT, **changed)), image)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("norm_first", [True, False])
def test_torchs_own_encoder(norm_first, tmp_path):
    torch.manual_seed(0)
    names = {"embedding": "tok.weight", "positions": "pos", "classifier": "head"}
    values = {
        "model_type": "torch.nn.TransformerEncoder",
        "n_heads": 4,
        "norm_first": norm_first,
        "names": names,
    }
    (tmp_path / "config.json").write_text(json.dumps(values))
    save_file(Own(norm_first=norm_first, activation="relu").state_dict(), tmp_path / "model.safetensors")
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    check(load(tmp_path), MASKED)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "mode",
    ["mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens", ["mean", "cls", "max"]],
)
def test_poolings_of_sentence_transformers(mode, tmp_path):
    build_sentence_encoder(tmp_path)
    pooling(tmp_path, pooling_mode=mode)
    check(load(tmp_path), MASKED)


def test_layers_behind_the_pooling_of_sentence_transformers(tmp_path):
    torch.manual_seed(0)
    build_sentence_encoder(tmp_path)
    dense(tmp_path, "2_Dense", 24, 10, "torch.nn.modules.activation.Tanh")
    modules(
        tmp_path,
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        ("Dense", "2_Dense"),
        ("Normalize", "3_Normalize"),
    )
    loaded = load(tmp_path)
    assert len(loaded.config.family.sentence_layers) == 2
    check(loaded, MASKED)


def print_table() -> None:
    """The largest gaps of each family, by the type of the model in `config.json`."""
    by_family: dict[str, list[Gaps]] = {}
    for architecture, changed in [(name, {}) for name in [*TEXT, *PICTURES]] + [
        *VARIANTS,
        *VISION,
        *TEXTS,
        *OTHERS,
    ]:
        with TemporaryDirectory() as folder:
            gaps = check_family(Path(folder), architecture, **changed)
            family = json.loads(Path(folder, "config.json").read_text())["model_type"]
        by_family.setdefault(family, []).append(gaps)
    print("| family | encoders | parts | gap of answers | gap of scores |\n|---|---|---|---|---|")
    for family, of_family in sorted(by_family.items()):
        n_parts, answers, scores = zip(*of_family, strict=True)
        counts = "–".join(str(n) for n in sorted({min(n_parts), max(n_parts)}))
        print(f"| {family} | {len(of_family)} | {counts} | {max(answers):.1e} | {max(scores):.1e} |")


if __name__ == "__main__":
    print_table()
