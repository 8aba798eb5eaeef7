"""The tokenizer of a folder in Hugging Face's layout: `tokenizer.json`, or the vocabulary from which it is made."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from ..config import ModelConfig
from ..files.encoder_files import MERGES, TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, VOCABULARY_LINES
from ..files.errors import one_sentence
from ..files.json_file import LARGEST_JSON, read_object
from ..files.tokenizer_file import check, open_tokenizer
from ..inputs.text import encode

FILES = (TOKENIZER, VOCABULARY_LINES, VOCABULARY, MERGES, TOKENIZER_CONFIG)
NEEDED = f"there is no {TOKENIZER}, no {VOCABULARY_LINES}, and no {VOCABULARY} with {MERGES}"


def read_tokenizer(folder: Path, config: ModelConfig) -> Tokenizer:
    """The tokenizer of a folder, which truncates to the encoder's length and does not pad.

    Raises ValueError, in one sentence, where it cannot be used.
    """
    path = folder / TOKENIZER_CONFIG
    options = read_object(path, TOKENIZER_CONFIG) if path.exists() else {}
    if any((folder / name).stat().st_size > LARGEST_JSON for name in FILES if (folder / name).is_file()):
        raise ValueError(f"the tokenizer cannot be used: it is larger than {LARGEST_JSON >> 20} MB")
    with one_sentence("the tokenizer cannot be used"):
        tokenizer = _made(folder, options)
        _check(tokenizer, config)
        side = "left" if options.get("truncation_side") == "left" else "right"
        tokenizer.enable_truncation(_length(tokenizer, options, config), direction=side)
        return tokenizer


def _check(tokenizer: Tokenizer, config: ModelConfig) -> None:
    """Raises ValueError where the tokenizer makes token ids or token types that the encoder does not have."""
    assert config.vocab_size is not None  # an encoder of texts
    n_types, n_added = config.family.n_token_types, tokenizer.num_special_tokens_to_add(False)
    added = _values(tokenizer.post_processor, "ids", "sep", "cls")
    words = tokenizer.get_vocab()
    largest = max([*words.values(), *added], default=-1)
    if largest >= config.vocab_size:
        raise ValueError(
            f"its token ids go up to {largest}, but the encoder's vocabulary has {config.vocab_size}"
        )
    largest_type = max(_values(tokenizer.post_processor, "type_id"), default=0)
    if n_types > 1 and largest_type >= n_types:
        raise ValueError(f"its token types go up to {largest_type}, but the encoder has {n_types}")
    if n_added >= config.n_positions:
        raise ValueError(
            f"it adds {n_added} special tokens, but the encoder reads only {config.n_positions} tokens"
        )
    for text in ("", max(words, key=words.__getitem__, default="")):  # it may fail only when it is used
        encode(tokenizer, text)


def _values(processor: processors.PostProcessor | None, *keys: str) -> list[int]:
    """The whole numbers that a post-processor holds at these keys, at any depth."""

    def collect(value: object, wanted: bool) -> Iterator[int]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from collect(inner, key in keys)
        elif isinstance(value, list):
            for inner in value:
                yield from collect(inner, wanted)
        elif wanted and type(value) is int:
            yield value

    return [] if processor is None else list(collect(json.loads(processor.__getstate__()), False))


def _length(tokenizer: Tokenizer, options: dict[str, Any], config: ModelConfig) -> int:
    """The number of tokens to truncate to, at most the encoder's.

    Lengths no longer than the special tokens are ignored; where nobody set one, `transformers` writes 10^30.
    """
    length = options.get("model_max_length")
    if isinstance(length, bool) or not isinstance(length, int):
        return config.n_positions
    is_usable = length > tokenizer.num_special_tokens_to_add(True)
    return min(config.n_positions, length) if is_usable else config.n_positions


def _made(folder: Path, options: dict[str, Any]) -> Tokenizer:
    if (folder / TOKENIZER).is_file():
        return open_tokenizer(read_object(folder / TOKENIZER, TOKENIZER))
    tokenizer = None
    if (folder / VOCABULARY_LINES).is_file():
        tokenizer = _word_piece(folder / VOCABULARY_LINES, options)
    elif (folder / VOCABULARY).is_file() and (folder / MERGES).is_file():
        tokenizer = _byte_pairs(folder, options)
    if tokenizer is not None:
        check(json.loads(tokenizer.to_str()))
        return tokenizer
    models_of_sentencepiece = sorted(path.name for path in folder.glob("*.model"))
    if models_of_sentencepiece:
        raise ValueError(f"{models_of_sentencepiece[0]} alone is not enough: save {TOKENIZER} as well")
    raise ValueError(NEEDED)


def _word_piece(path: Path, options: dict[str, Any]) -> Tokenizer:
    """BERT's tokenizer, made of its list of word pieces."""
    names = {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    names = {key: _token(options, key, name) for key, name in names.items()}
    pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")  # other ends of lines are pieces
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=names["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=bool(options.get("do_lower_case", True)),
        strip_accents=options.get("strip_accents"),
        handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([name for name in names.values() if name in vocabulary])
    first, last = names["cls_token"], names["sep_token"]
    ids = _ids(tokenizer, first, last, VOCABULARY_LINES)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:1 {last}:1", special_tokens=ids
    )
    return tokenizer


def _byte_pairs(folder: Path, options: dict[str, Any]) -> Tokenizer:
    """RoBERTa's tokenizer, made of its byte pairs and their merges."""
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / VOCABULARY), str(folder / MERGES)))
    before = bool(options.get("add_prefix_space", False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=before)
    tokenizer.decoder = decoders.ByteLevel()
    names = {
        key: _token(options, key, name)
        for key, name in (
            ("cls_token", "<s>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("unk_token", "<unk>"),
        )
    }
    mask = AddedToken(_token(options, "mask_token", "<mask>"), lstrip=True, special=True)
    known = [name for name in names.values() if tokenizer.token_to_id(name) is not None]
    tokenizer.add_special_tokens(
        [*known, *([mask] if tokenizer.token_to_id(mask.content) is not None else [])]
    )
    sep, cls = _ids(tokenizer, names["sep_token"], names["cls_token"], VOCABULARY)
    tokenizer.post_processor = processors.RobertaProcessing(sep, cls, add_prefix_space=before)
    return tokenizer


def _ids(tokenizer: Tokenizer, first: str, second: str, file: str) -> list[tuple[str, int]]:
    """Name and id of two tokens. Raises ValueError where the vocabulary in `file` lacks one."""
    ids = [(name, index) for name in (first, second) if (index := tokenizer.token_to_id(name)) is not None]
    if len(ids) < 2:
        raise ValueError(f"{file} has no {first} or no {second}")
    return ids


def _token(options: dict[str, Any], key: str, otherwise: str) -> str:
    """The name of a token in the options, where it may be an object with `content`."""
    value = options.get(key, otherwise)
    value = value.get("content", otherwise) if isinstance(value, dict) else value
    return value if isinstance(value, str) and value else otherwise
