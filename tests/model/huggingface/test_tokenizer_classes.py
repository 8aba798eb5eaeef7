"""Token ids of each class of tokenizers that is followed, in each layout of files, against AutoTokenizer in the same folder."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers

from model.config import ModelConfig
from model.huggingface.tokenizer import read_tokenizer
from model.huggingface.tokenizer_classes import CLASSES
from model.inputs.text import encode
from tests.model.huggingface.vocabularies import TEXTS, VOCABULARIES


def write(folder: Path, model_type: str, options: dict[str, Any] | None, **files: Any) -> None:
    """config.json, tokenizer_config.json (None: none) and other files beside a vocabulary."""
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    if options is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(options))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def small_config(vocab_size: int = 2000) -> ModelConfig:
    return ModelConfig(
        d_model=8, n_heads=2, d_k=4, d_v=4, n_layers=1, d_ff=8, n_positions=512, vocab_size=vocab_size, norm_placement="post", pooling="class"
    )  # fmt: skip


def assert_same_ids(folder: Path) -> tuple[str, ...]:
    """Compares ids and token types of all texts, and of pairs; returns the notes."""
    ours, notes = read_tokenizer(folder, small_config())
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    adds_end_once = isinstance(
        theirs, transformers.ByT5Tokenizer
    )  # it is not added behind a text that ends with it
    for text in TEXTS:
        if adds_end_once and text.endswith("</s>"):
            continue
        assert list(encode(ours, text).ids) == theirs(text)["input_ids"], (text, encode(ours, text).tokens)
    pair = theirs("the film", "is not bad")
    encoded = encode(ours, "the film", second="is not bad")
    assert list(encoded.ids) == pair["input_ids"]
    if "token_type_ids" in pair:
        assert list(encoded.types) == pair["token_type_ids"]
    return notes


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "BertTokenizer": [
        {"do_lower_case": False},
        {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False},
        {"strip_accents": False, "do_basic_tokenize": False, "never_split": ["FILM"]},
        {"cls_token": "[SEP]", "sep_token": {"__type": "AddedToken", "content": "[CLS]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False}},
        {"split_special_tokens": True},
        {"extra_special_tokens": ["[E1]", "[/E1]"], "image_token": "[E2]"},
    ],
    "MPNetTokenizer": [{"do_lower_case": False}],
    "RobertaTokenizer": [{"add_prefix_space": True}, {"mask_token": "[MASK]", "bos_token": "</s>"}],
    "DebertaV2Tokenizer": [{"do_lower_case": True, "split_by_punct": True}, {"add_prefix_space": False}],
    "AlbertTokenizer": [{"do_lower_case": False, "keep_accents": True}],
    "XLMRobertaTokenizer": [{"add_prefix_space": False}, {"additional_special_tokens": ["[E1]", "[/E1]"]}],
    "T5Tokenizer": [{"extra_ids": 7}, {"legacy": False}],
    "ByT5Tokenizer": [{"extra_ids": 9}],
}  # fmt: skip
CASES = [(name, options) for name in VOCABULARIES for options in ({}, *OPTIONS.get(name, []))]
IDS = [f"{name}-{'-'.join(options)}" for name, options in CASES]


@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_a_vocabulary_is_read_as_its_class_reads_it(name: str, options: dict, tmp_path: Path) -> None:
    model_type, write_vocabulary = VOCABULARIES[name]
    write_vocabulary(tmp_path)
    write(tmp_path, model_type, {"tokenizer_class": name, **options})
    assert assert_same_ids(tmp_path) == ()


@pytest.mark.parametrize(
    ("name", "options"),
    [case for case in CASES if case[0] != "ByT5Tokenizer"],
    ids=[case for case in IDS if "ByT5" not in case],
)
def test_a_tokenizer_json_is_read_as_its_class_reads_it(name: str, options: dict, tmp_path: Path) -> None:
    model_type, write_vocabulary = VOCABULARIES[name]
    write_vocabulary(tmp_path)
    write(tmp_path, model_type, {"tokenizer_class": name})
    saved = tmp_path / "saved"
    transformers.AutoTokenizer.from_pretrained(tmp_path).save_pretrained(saved)
    stored = json.loads((saved / "tokenizer_config.json").read_text())
    write(saved, model_type, stored | options)  # what stands beside the file decides
    assert_same_ids(saved)


@pytest.mark.parametrize("name", [name for name in VOCABULARIES if "ByT5" not in name])
def test_added_tokens_beside_a_vocabulary_are_followed(name: str, tmp_path: Path) -> None:
    model_type, write_vocabulary = VOCABULARIES[name]
    write_vocabulary(tmp_path)
    write(tmp_path, model_type, {"tokenizer_class": name})
    n = len(transformers.AutoTokenizer.from_pretrained(tmp_path))
    marks = {
        mark: n + index for index, mark in enumerate(("[E1]", "[/E1]", "[E2]", "[/E2]", "gripping", "Marie"))
    }
    first, *_ = CLASSES[name].names.values()
    layouts: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"added_tokens": marks}),
        ({}, {"added_tokens": marks, "special_tokens_map": {"additional_special_tokens": list(marks)[:4]}}),
        ({}, {"special_tokens_map": {"extra_special_tokens": list(marks)[:4], "unk_token": {"content": first, "lstrip": True, "rstrip": True, "normalized": False, "single_word": False}}}),
        ({"additional_special_tokens": list(marks)[:2]}, {"added_tokens": marks}),
        ({"added_tokens_decoder": {str(index): {"content": mark, "lstrip": index % 2 == 0, "rstrip": False, "normalized": index % 3 == 0, "single_word": mark == "gripping", "special": index % 4 == 0} for mark, index in marks.items()}}, {"added_tokens": {"ignored": 3}}),
    ]  # fmt: skip
    for index, (options, files) in enumerate(layouts):
        folder = tmp_path / f"layout{index}"
        folder.mkdir()
        write_vocabulary(folder)
        write(folder, model_type, {"tokenizer_class": name, **options}, **files)
        assert assert_same_ids(folder) == ()
        saved = folder / "saved"
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(saved)
        write(saved, model_type, {"tokenizer_class": name, **options}, **files)
        assert assert_same_ids(saved) == ()
