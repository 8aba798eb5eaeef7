"""The tokenizer of a folder in Hugging Face's layout: `tokenizer.json`, or the vocabulary from which it is made."""

import json
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
    """With the encoder's own length as truncation, and no padding. Raises ValueError, in one sentence, where it cannot be used."""
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
    """Raises ValueError where it makes tokens, or parts of a text, that the encoder does not have."""
    n_types, n_added = config.family.n_token_types, tokenizer.num_special_tokens_to_add(False)
    added = _values(tokenizer.post_processor, "ids", "sep", "cls")
    words = tokenizer.get_vocab()
    largest = max([*words.values(), *added], default=-1)
    if largest >= config.vocab_size:
        raise ValueError(
            f"its token ids go up to {largest}, but the encoder's vocabulary has {config.vocab_size}"
        )
    if n_types > 1 and (part := max(_values(tokenizer.post_processor, "type_id"), default=0)) >= n_types:
        raise ValueError(f"its token types go up to {part}, but the encoder has {n_types}")
    if n_added >= config.n_positions:
        raise ValueError(
            f"it adds {n_added} special tokens, but the encoder reads only {config.n_positions} tokens"
        )
    for text in ("", max(words, key=words.get, default="")):  # it may fail only when it is used
        encode(tokenizer, text)


def _values(processor: processors.PostProcessor | None, *keys: str) -> list[int]:
    """The whole numbers at these keys of what a post-processor holds, however deep."""
    found: list[int] = []

    def look(part: object, wanted: bool) -> None:
        if isinstance(part, dict):
            for key, value in part.items():
                look(value, key in keys)
        elif isinstance(part, list):
            for each in part:
                look(each, wanted)
        elif wanted and type(part) is int:
            found.append(part)

    if processor is not None:
        look(json.loads(processor.__getstate__()), False)
    return found


def _length(tokenizer: Tokenizer, options: dict[str, Any], config: ModelConfig) -> int:
    """Where nobody set a length, `transformers` writes 10^30; less than what is added to a text would cut nothing."""
    length = options.get("model_max_length")
    least = tokenizer.num_special_tokens_to_add(True)
    is_one = type(length) is int and length > least
    return min(config.n_positions, length) if is_one else config.n_positions


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
    """As BERT reads."""
    names = {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    names = {key: _token(options, key, name) for key, name in names.items()}
    pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")  # other ends of lines are pieces
    vocabulary = {piece: at for at, piece in enumerate(pieces)}
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
    ids = [(name, tokenizer.token_to_id(name)) for name in (first, last)]
    if any(at is None for _, at in ids):
        raise ValueError(f"{VOCABULARY_LINES} has no {first} or no {last}")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:1 {last}:1", special_tokens=ids
    )
    return tokenizer


def _byte_pairs(folder: Path, options: dict[str, Any]) -> Tokenizer:
    """As RoBERTa reads."""
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
    ends = [(name, tokenizer.token_to_id(name)) for name in (names["sep_token"], names["cls_token"])]
    if any(at is None for _, at in ends):
        raise ValueError(f"{VOCABULARY} has no {names['cls_token']} or no {names['sep_token']}")
    tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=before)
    return tokenizer


def _token(options: dict[str, Any], key: str, otherwise: str) -> str:
    """A name, which may stand alone or as an object with `content`."""
    value = options.get(key, otherwise)
    value = value.get("content", otherwise) if isinstance(value, dict) else value
    return value if isinstance(value, str) and value else otherwise
