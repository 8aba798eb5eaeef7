"""Token ids of each class of tokenizers that is followed, in each builder of files, against AutoTokenizer in the same folder."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers
from tokenizers import models

from model.config import ModelConfig
from model.huggingface.tokenizer import read_tokenizer
from model.huggingface.tokenizer_classes import CLASSES, OWN_CODE
from model.inputs.text import encode
from tests.model.huggingface.vocabularies import FAIRSEQ, TEXTS, VOCABULARIES, byte_pairs


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


def expected_notes(name: str) -> tuple[str, ...]:
    """What is noted about a class and a vocabulary that fit."""
    if name != "DebertaV2Tokenizer":
        return ()
    return (
        "As in transformers 5, DebertaV2Tokenizer leaves out the map of characters in spm.model: full-width letters, ligatures "
        "and the like stay as they are.",
    )


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


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)
def test_a_vocabulary_is_read_as_its_class_reads_it(name, options, tmp_path):
    model_type, write_vocabulary = VOCABULARIES[name]
    write_vocabulary(tmp_path)
    write(tmp_path, model_type, {"tokenizer_class": name, **options})
    assert assert_same_ids(tmp_path) == expected_notes(name)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    ("name", "options"),
    [case for case in CASES if case[0] != "ByT5Tokenizer"],
    ids=[case for case in IDS if "ByT5" not in case],
)
def test_a_tokenizer_json_is_read_as_its_class_reads_it(name, options, tmp_path):
    model_type, write_vocabulary = VOCABULARIES[name]
    write_vocabulary(tmp_path)
    write(tmp_path, model_type, {"tokenizer_class": name})
    saved = tmp_path / "saved"
    transformers.AutoTokenizer.from_pretrained(tmp_path).save_pretrained(saved)
    stored = json.loads((saved / "tokenizer_config.json").read_text())
    write(saved, model_type, stored | options)  # what stands beside the file decides
    assert_same_ids(saved)


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("name", [name for name in VOCABULARIES if "ByT5" not in name])
def test_added_tokens_beside_a_vocabulary_are_followed(name, tmp_path):
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
        folder = tmp_path / f"builder{index}"
        folder.mkdir()
        write_vocabulary(folder)
        write(folder, model_type, {"tokenizer_class": name, **options}, **files)
        assert assert_same_ids(folder) == expected_notes(name)
        saved = folder / "saved"
        transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(saved)
        write(saved, model_type, {"tokenizer_class": name, **options}, **files)
        assert assert_same_ids(saved) == ()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "name", [name for name in VOCABULARIES if name not in ("ByT5Tokenizer", "HerbertTokenizer")]
)
def test_the_class_is_found_where_autotokenizer_finds_it(name, tmp_path):
    """In tokenizer_config.json, else in config.json, else by the family; some families' files are read as they stand."""
    model_type, write_vocabulary = VOCABULARIES[name]
    write_vocabulary(tmp_path)
    write(tmp_path, model_type, None)
    assert assert_same_ids(tmp_path) == expected_notes(name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "new", "tokenizer_class": f"{name}Fast"}))
    assert assert_same_ids(tmp_path) == expected_notes(name)
    saved = tmp_path / "saved"
    tokenizer.save_pretrained(saved)
    (saved / "tokenizer_config.json").unlink()
    write(saved, model_type, None)
    assert assert_same_ids(saved) == ()
    write(
        saved,
        model_type,
        {"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": True, "pad_token": "[E1]"},
    )
    assert assert_same_ids(saved) == ()
    write(saved, "modernbert", {"tokenizer_class": name, "do_lower_case": False, "unk_token": "[E2]"})
    assert assert_same_ids(saved) == ()


@pytest.mark.rest_is_slow
@pytest.mark.parametrize(
    "name", ["GPT2Tokenizer", "Qwen2Tokenizer", "GemmaTokenizer", "LlamaTokenizer", "DebertaTokenizer"]
)
def test_other_classes_are_read_as_they_were_saved(name, tmp_path):
    byte_pairs(tmp_path, (*FAIRSEQ, "<|endoftext|>"))
    vocabulary, merges = models.BPE.read_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    getattr(transformers, name)(vocab=vocabulary, merges=merges).save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "config.json").write_text(json.dumps({"model_type": "roberta"}))
    notes = assert_same_ids(tmp_path / "saved")
    assert notes == (f"Texts are read as tokenizer.json says; other rules of {name} are not followed.",)


def test_the_documentation_lists_the_classes():
    text = (Path(__file__).parents[3] / "docs" / "your_own.md").read_text(encoding="utf-8")
    assert [name for name in (*CLASSES, "EsmTokenizer", *OWN_CODE) if f"`{name}`" not in text] == []
