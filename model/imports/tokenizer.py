"""The tokenizer of a folder in Hugging Face's layout: `tokenizer.json`, or the vocabulary from which it is made."""

from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from ..config import ModelConfig
from ..text import encode
from .weights import LARGEST_JSON, read_json

WHOLE, WORDS, PAIRS, MERGES = "tokenizer.json", "vocab.txt", "vocab.json", "merges.txt"
FILES = (WHOLE, WORDS, PAIRS, MERGES, "tokenizer_config.json")
NEEDED = f"there is no tokenizer: {WHOLE}, or {WORDS}, or {PAIRS} with {MERGES}"


def read_tokenizer(folder: Path, config: ModelConfig) -> Tokenizer:
    """With the encoder's own length as truncation, and no padding. Raises ValueError, in one sentence, where it cannot be used."""
    settings = folder / "tokenizer_config.json"
    said = read_json(settings) if settings.exists() else {}
    try:
        if any((folder / name).stat().st_size > LARGEST_JSON for name in FILES if (folder / name).is_file()):
            raise ValueError(f"it is larger than {LARGEST_JSON >> 20} MB")
        tokenizer = _made(folder, said)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        largest = max(tokenizer.get_vocab().values(), default=-1)
        if largest >= config.vocab_size:
            raise ValueError(f"it numbers tokens up to {largest}, the encoder knows {config.vocab_size}")
        side = "left" if said.get("truncation_side") == "left" else "right"
        n_added = len(encode(tokenizer, "").ids)
        if n_added >= config.n_positions:
            raise ValueError(f"it adds {n_added} tokens, the encoder reads {config.n_positions}")
        tokenizer.enable_truncation(_length(said, config), direction=side)
        return tokenizer
    except Exception as error:  # the library raises plain Exception
        why = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise ValueError(f"the tokenizer cannot be used: {why}") from error


def _length(said: dict[str, Any], config: ModelConfig) -> int:
    """Where nobody set a length, `transformers` writes 10^30."""
    length = said.get("model_max_length")
    return min(config.n_positions, length) if type(length) is int and length > 2 else config.n_positions


def _made(folder: Path, said: dict[str, Any]) -> Tokenizer:
    if (folder / WHOLE).is_file():
        return Tokenizer.from_file(str(folder / WHOLE))
    if (folder / WORDS).is_file():
        return _word_piece(folder / WORDS, said)
    if (folder / PAIRS).is_file() and (folder / MERGES).is_file():
        return _byte_pairs(folder, said)
    models_of_sentencepiece = sorted(path.name for path in folder.glob("*.model"))
    if models_of_sentencepiece:
        raise ValueError(f"{models_of_sentencepiece[0]} alone is not read: save {WHOLE} as well")
    raise ValueError(NEEDED)


def _word_piece(path: Path, said: dict[str, Any]) -> Tokenizer:
    """As BERT reads."""
    names = {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    names = {key: _token(said, key, name) for key, name in names.items()}
    pieces = path.read_text(encoding="utf-8").splitlines()
    vocabulary = {piece: at for at, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=names["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=bool(said.get("do_lower_case", True)),
        strip_accents=said.get("strip_accents"),
        handle_chinese_chars=bool(said.get("tokenize_chinese_chars", True)),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([name for name in names.values() if name in vocabulary])
    first, last = names["cls_token"], names["sep_token"]
    ids = [(name, tokenizer.token_to_id(name)) for name in (first, last)]
    if any(at is None for _, at in ids):
        raise ValueError(f"{WORDS} has no {first} or no {last}")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B:1 {last}:1", special_tokens=ids
    )
    return tokenizer


def _byte_pairs(folder: Path, said: dict[str, Any]) -> Tokenizer:
    """As RoBERTa reads."""
    tokenizer = Tokenizer(models.BPE.from_file(str(folder / PAIRS), str(folder / MERGES)))
    before = bool(said.get("add_prefix_space", False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=before)
    tokenizer.decoder = decoders.ByteLevel()
    names = {
        key: _token(said, key, name)
        for key, name in (
            ("cls_token", "<s>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("unk_token", "<unk>"),
        )
    }
    mask = AddedToken(_token(said, "mask_token", "<mask>"), lstrip=True, special=True)
    known = [name for name in names.values() if tokenizer.token_to_id(name) is not None]
    tokenizer.add_special_tokens(
        [*known, *([mask] if tokenizer.token_to_id(mask.content) is not None else [])]
    )
    ends = [(name, tokenizer.token_to_id(name)) for name in (names["sep_token"], names["cls_token"])]
    if any(at is None for _, at in ends):
        raise ValueError(f"{PAIRS} has no {names['cls_token']} or no {names['sep_token']}")
    tokenizer.post_processor = processors.RobertaProcessing(*ends, add_prefix_space=before)
    return tokenizer


def _token(said: dict[str, Any], key: str, otherwise: str) -> str:
    """A name, which may stand alone or as an object with `content`."""
    value = said.get(key, otherwise)
    value = value.get("content", otherwise) if isinstance(value, dict) else value
    return value if isinstance(value, str) and value else otherwise
