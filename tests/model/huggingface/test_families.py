"""Every list of the families that open says what the code opens. `python -m tests.model.huggingface.test_families` writes them."""

import json
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.files.errors import LONGEST
from model.huggingface import describe
from model.huggingface.families import FAMILIES, families_table, family_names
from model.huggingface.inner_encoders import TWO_ENCODERS
from tests.model.huggingface.folders import change_tensors, refusal, rewrite

ROOT = Path(__file__).parents[3]
LISTS = {"README.md": family_names, "docs/your_own.md": families_table}
MARKED = re.compile(r"(?<=<!-- families -->\n).*?(?=\n<!-- end of families -->)", re.DOTALL)
WEIGHTS = "model.safetensors"
QUERY = "bert.encoder.layer.0.attention.self.query"


@pytest.mark.parametrize("file", LISTS)
def test_docs_list_the_families_that_open(file):
    (listed,) = MARKED.findall((ROOT / file).read_text("utf-8"))
    assert listed == LISTS[file]()


def test_a_family_is_listed_once_with_all_its_model_types():
    rows = families_table().splitlines()[2:]
    names = [name for row in rows for name in row.split(" | ")[0].removeprefix("| ").split(", ")]
    assert sorted(names) == sorted(set(family_names().split(", ")))
    assert re.findall(r"`(.+?)`", "\n".join(rows)) == sorted(
        [*FAMILIES, *TWO_ENCODERS], key=lambda model_type: families_table().index(f"`{model_type}`")
    )


@pytest.mark.parametrize("inner", ["", "encoder"])
def test_an_adapter_beside_its_encoder_must_be_merged(bert, inner):
    folder = bert
    if inner:  # of sentence-transformers, whose encoder lies in a folder of its own
        folder = bert.parent / "sentences"
        folder.mkdir()
        bert.rename(folder / inner)
        modules = [{"idx": 0, "name": "0", "path": inner, "type": "sentence_transformers.models.Transformer"}]
        (folder / "modules.json").write_text(json.dumps(modules))
    (folder / inner / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4}))
    assert "merge them first" in refusal(folder)
    assert "beside its encoder" in refusal(folder)


@pytest.mark.parametrize(
    "stored",
    [
        {
            f"{QUERY}.lora_A.default.weight": torch.zeros(4, 24),
            f"{QUERY}.lora_B.default.weight": torch.zeros(24, 4),
        },
        {f"{QUERY}.base_layer.weight": torch.zeros(24, 24), f"{QUERY}.weight": None},
        {"bert.encoder.layer.0.output.adapters.mine.adapter_down.0.weight": torch.zeros(4, 24)},
        {f"{QUERY}.ia3_l.default": torch.ones(24, 1)},
        {"prompt_encoder.prompt_embeddings": torch.ones(5, 24)},
    ],
)
def test_an_adapter_among_the_weights_must_be_merged(bert, stored):
    change_tensors(bert, stored)
    sentence = refusal(bert)
    assert "an adapter that is not merged" in sentence
    assert "missing" not in sentence


def test_trained_vectors_of_relative_positions_are_not_dropped_in_silence(bert):
    change_tensors(bert, {"bert.encoder.layer.0.attention.self.distance_embedding.weight": torch.ones(79, 6)})
    assert "vectors of relative positions" in refusal(bert)


def test_pruned_heads_are_named(bert):
    rewrite(bert, pruned_heads={"0": [1, 2]})
    # transformers 5 prunes no heads: without smaller tensors the setting changes nothing
    assert describe(bert).problem is None
    kept = load_file(bert / WEIGHTS)[f"{QUERY}.weight"][:12]
    change_tensors(bert, {f"{QUERY}.weight": kept})
    assert "heads of this encoder are pruned (pruned_heads in config.json, layers 0)" in refusal(bert)


@pytest.mark.parametrize(
    "config",
    [
        {"architecture": "vit_tiny_patch16_224", "num_classes": 0, "num_features": 192, "pretrained_cfg": {}},
        {"architecture": "resnet50", "num_classes": 1000, "num_features": 2048},
        {"architecture": "vit_base", "model_type": "timm_wrapper", "architectures": ["TimmWrapperModel"]},
    ],
)
def test_a_folder_of_timm_is_called_so(tmp_path, config):
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file({"cls_token": torch.zeros(1, 1, 8)}, tmp_path / WEIGHTS)
    sentence = refusal(tmp_path, longest=2 * LONGEST)
    assert f"a folder of timm ('{config['architecture']}')" in sentence
    assert "loupe.from_arrays" in sentence


@pytest.mark.parametrize(
    "config", [{"hello": 1}, {"model": {"name": "x"}, "trainer": {}}, {"embed_dim": 512}]
)
def test_a_config_of_another_library_is_not_called_damaged(tmp_path, config):
    (tmp_path / "config.json").write_text(json.dumps(config))
    save_file({"w": torch.zeros(2, 2)}, tmp_path / WEIGHTS)
    sentence = refusal(tmp_path, longest=4 * LONGEST)
    assert "the model_type in config.json is missing" in sentence
    assert "damaged" not in sentence


if __name__ == "__main__":
    for file, text in LISTS.items():
        path = ROOT / file
        path.write_text(MARKED.sub(lambda _, text=text: text(), path.read_text("utf-8")), "utf-8")
