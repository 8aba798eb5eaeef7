"""Tokens and words of tokenizer objects of transformers, against what these objects say themselves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from model.capture.model_tokens import token_positions, tokenizer_encoding
from model.inputs.text import encode
from model.measures.word_view import view
from model.record import Positions
from model.record.from_arrays import from_arrays

NAMES = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MODERNBERT = Regex(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
TEXTS = ("café, isn’t it?", "tab\there\n\nnew  line", "честное слово — £5", "a 😀👩\u200d👧 <mask> हिन्दी")


def byte_level(splits: bool = True) -> Any:
    pieces = [*NAMES, *sorted(pre_tokenizers.ByteLevel.alphabet()), "is", "isn", "âĢ", "Ġa", "ðŁ"]
    merges = [("i", "s"), ("is", "n"), ("â", "Ģ"), ("Ġ", "a"), ("ð", "Ł")]
    made = Tokenizer(models.BPE({piece: index for index, piece in enumerate(pieces)}, merges))
    in_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    words = pre_tokenizers.Split(MODERNBERT, "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([words, in_bytes]) if splits else in_bytes
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B:1 </s>:1",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    special = dict(
        zip(("cls_token", "pad_token", "sep_token", "unk_token", "mask_token"), NAMES, strict=True)
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **special)


def read(tokenizer: Any, model_input: Any) -> Positions:
    if isinstance(model_input, dict):
        ids = model_input["input_ids"][0].tolist()
    else:
        ids = tokenizer(*((model_input,) if isinstance(model_input, str) else model_input))["input_ids"]
    return token_positions(tokenizer, ids, tokenizer_encoding(tokenizer, model_input, ids))


def words_of(positions: Positions) -> list[str]:
    n = len(positions)
    record = from_arrays(
        np.full((1, 1, n, n), 1 / n), positions.tokens, roles=positions.roles, pieces=positions.pieces
    )
    return list(view(record, merged=True).tokens)


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_the_tokenizers_own_numbers(text: str) -> None:
    tokenizer = byte_level()
    numbers = tokenizer(text).word_ids()
    expected = [
        "continuation" if index and number is not None and number == numbers[index - 1] else None
        for index, number in enumerate(numbers)
    ]
    positions = read(tokenizer, text)
    assert [role if role == "continuation" else None for role in positions.roles] == expected
    assert positions.pieces == tuple(tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"]))
    of_ids = read(tokenizer, {"input_ids": torch.tensor([tokenizer(text)["input_ids"]])})
    assert of_ids == positions


def test_words_and_tokens_are_texts() -> None:
    assert words_of(read(byte_level(), TEXTS[0])) == ["<s>", "café", ",", "isn", "’", "t", "it", "?", "</s>"]
    assert words_of(read(byte_level(), TEXTS[1])) == [
        *("<s>", "tab", "⇥", "here", "↵", "↵", "new", "·", "line", "</s>")
    ]
    assert read(byte_level(), "a 😀").tokens == (
        "<s>",
        "a",
        "·",
        "[U+1F600]1/3",
        "[U+1F600]2/3",
        "[U+1F600]3/3",
        "</s>",
    )
    assert words_of(read(byte_level(), ("ab", "ж"))) == ["<s>", "ab", "</s>", "ж", "</s>"]


def test_a_tokenizer_that_splits_no_text_has_words_between_spaces() -> None:
    assert words_of(read(byte_level(splits=False), "café, isn’t it?")) == [
        "<s>",
        "café,",
        "isn’t",
        "it?",
        "</s>",
    ]


def test_the_special_tokens_keep_their_roles() -> None:
    assert read(byte_level(), "a<mask>").roles == ("class", "word", "mask", "separator")


def test_an_unknown_piece_of_a_unigram_is_shown_as_its_text() -> None:
    made = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁a", -1.0), ("▁", -2.0)], unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.add_special_tokens(["<unk>"])
    positions = read(transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>"), "a ж")
    assert positions.tokens == encode(made, "a ж").tokens == ("a", "·", "ж")
    assert positions.roles == encode(made, "a ж").roles == ("word", "word", "unknown")


def test_a_tokenizer_in_python_is_read_by_its_spelling() -> None:
    positions = read(transformers.ByT5Tokenizer(), "a ж\n")
    assert positions.tokens == ("a", "·", "[U+0436]1/2", "[U+0436]2/2", "↵", "</s>")
    assert words_of(positions) == ["a", "ж", "↵", "</s>"]


def test_words_in_latin_letters_are_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(
        "\n".join(("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "naïve", "Ã©", "##ly"))
    )
    tokenizer = transformers.BertTokenizer.from_pretrained(tmp_path, do_lower_case=False, strip_accents=False)
    positions = read(tokenizer, "naïve Ã©ly")
    assert positions.tokens == positions.pieces == ("[CLS]", "naïve", "Ã©", "##ly", "[SEP]")
    assert words_of(positions)[1:-1] == ["naïve", "Ã©##ly"]
