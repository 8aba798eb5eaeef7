import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer

from model.capture import capture
from model.checkpoint import load
from model.huggingface import describe
from tests.model.huggingface.folders import SENTENCE, VOCABULARY, build


def notes(folder: Path) -> str:
    return " ".join(describe(folder).notes)


@pytest.mark.parametrize("n_more", [0, 1, 4])
def test_rows_of_the_embedding_without_a_token_are_told(tmp_path: Path, n_more: int) -> None:
    n_tokens = len(VOCABULARY)
    build(tmp_path, "BertModel", vocab_size=n_tokens + n_more)
    sentence = f"The embedding has {n_tokens + n_more} rows, the tokenizer {n_tokens} tokens"
    assert (sentence in notes(tmp_path)) == bool(n_more)


def pad_with(folder: Path, name: str, file: str) -> None:
    (folder / file).write_text(json.dumps({"pad_token": name, "tokenizer_class": "PreTrainedTokenizerFast"}))


def theirs(model: torch.nn.Module, folder: Path, text: str) -> np.ndarray:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        given = tokenizer(text, return_tensors="pt")
        return torch.stack(model(**given, output_attentions=True).attentions)[:, 0].numpy()


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_padding_is_the_tokenizer_s(tmp_path: Path, file: str) -> None:
    """config.json's pad_token_id is that of a word, which its library reads like any other, by the tokenizer's mask."""
    model = build(tmp_path, "BertModel", pad_token_id=VOCABULARY.index("not"))
    pad_with(tmp_path, "[PAD]", file)
    record = capture(load(tmp_path), SENTENCE)
    assert "padding" not in record.roles
    np.testing.assert_allclose(record.pattern, theirs(model, tmp_path, SENTENCE), atol=1e-6)
    assert f"pad_token_id {VOCABULARY.index('not')}, but the tokenizer pads with token 0" in notes(tmp_path)


def test_a_word_is_no_padding_where_the_tokenizer_has_none(tmp_path: Path) -> None:
    model = build(tmp_path, "BertModel", pad_token_id=VOCABULARY.index("film"))
    loaded = load(tmp_path)
    assert loaded.config.padding_id is None
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    np.testing.assert_allclose(
        capture(loaded, SENTENCE).pattern, theirs(model, tmp_path, SENTENCE), atol=1e-6
    )
    assert "the tokenizer has no token for padding" in notes(tmp_path)


def test_padding_that_agrees_needs_no_words(tmp_path: Path) -> None:
    build(tmp_path, "BertModel")
    assert load(tmp_path).config.padding_id == 0
    assert notes(tmp_path) == ""
    pad_with(tmp_path, "[PAD]", "tokenizer_config.json")
    assert load(tmp_path).config.padding_id == 0
    assert notes(tmp_path) == ""


def test_sizes_that_their_own_library_refuses_are_refused(tmp_path: Path) -> None:
    build(tmp_path, "BertModel", vocab_size=len(VOCABULARY) - 1)
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab_size() == len(VOCABULARY)
    assert "token ids go up to" in str(describe(tmp_path).problem)


def test_a_negative_number_of_padding_is_that_of_no_token(tmp_path: Path) -> None:
    model = build(tmp_path, "BertModel", pad_token_id=-1)
    pad_with(tmp_path, "[PAD]", "tokenizer_config.json")
    record = capture(load(tmp_path), SENTENCE)
    np.testing.assert_allclose(record.pattern, theirs(model, tmp_path, SENTENCE), atol=1e-6)
