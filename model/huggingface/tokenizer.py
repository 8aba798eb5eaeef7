"""Reads the tokenizer of a folder in Hugging Face's layout, from `tokenizer.json` or from vocabulary files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from ..config import ModelConfig
from ..files.encoder_files import (
    MERGES,
    SENTENCEPIECE,
    TOKENIZER,
    TOKENIZER_CONFIG,
    VOCABULARY,
    VOCABULARY_LINES,
)
from ..files.errors import errors_in_one_sentence
from ..files.json_file import LARGEST_JSON, read_object
from ..files.tokenizer_check import check_tokenizer, open_tokenizer
from ..inputs.text import encode
from .sentencepiece_file import sentencepiece_tokenizer
from .token_names import token_ids, token_name

FILES = (TOKENIZER, VOCABULARY_LINES, VOCABULARY, MERGES, TOKENIZER_CONFIG)
PROTEIN_ENDS = {"<cls>", "<eos>"}  # around a protein's residues, in ESM's vocabulary
MOST_RESIDUES = 1000
END_OF_WORD = "</w>"  # at the end of a piece that ends a word, in CLIP's vocabulary
NEEDED = f"there is no {TOKENIZER}, no {VOCABULARY_LINES}, no {VOCABULARY} with {MERGES}, and none of {', '.join(SENTENCEPIECE)}"


def read_tokenizer(folder: Path, config: ModelConfig) -> Tokenizer:
    """The tokenizer of a folder, set to truncate texts to the encoder's length, and to pad them where the encoder reads padding.

    Raises ValueError, with a one-sentence message, if it cannot be used.
    """
    path = folder / TOKENIZER_CONFIG
    options = read_object(path, TOKENIZER_CONFIG) if path.exists() else {}
    if any((folder / name).stat().st_size > LARGEST_JSON for name in FILES if (folder / name).is_file()):
        raise ValueError(f"the tokenizer cannot be used: it is larger than {LARGEST_JSON >> 20} MB")
    with errors_in_one_sentence("the tokenizer cannot be used"):
        tokenizer = _tokenizer_from_files(folder, options)
        _check_fit(tokenizer, config)
        truncation_side = "left" if options.get("truncation_side") == "left" else "right"
        tokenizer.enable_truncation(_truncation_length(tokenizer, options, config), direction=truncation_side)
        if config.family.padded:
            _enable_padding(tokenizer, folder, options, config.n_positions)
        return tokenizer


def _enable_padding(tokenizer: Tokenizer, folder: Path, options: dict[str, Any], length: int) -> None:
    """Sets the tokenizer to pad texts to `length` tokens at their end. Raises ValueError if it is not known with which token."""
    if not (
        folder / TOKENIZER
    ).is_file():  # SigLIP's takes punctuation away, of which the other files say nothing
        raise ValueError(f"it cannot be built from other files: save {TOKENIZER} as well")
    name = token_name(options, "pad_token", "</s>")
    if (padding_id := tokenizer.token_to_id(name)) is None:
        raise ValueError(f"its pad_token {shortened(name)} is not in its vocabulary")
    tokenizer.enable_padding(length=length, pad_id=padding_id, pad_token=name)


def _check_fit(tokenizer: Tokenizer, config: ModelConfig) -> None:
    """Raises ValueError if the tokenizer produces token ids or token types that the encoder does not have."""
    assert config.vocab_size is not None  # an encoder of texts
    n_types, n_added = config.family.n_token_types, tokenizer.num_special_tokens_to_add(False)
    added_ids = _numbers_under(tokenizer.post_processor, "ids", "sep", "cls")
    token_to_id = tokenizer.get_vocab()
    largest_id = max([*token_to_id.values(), *added_ids], default=-1)
    if largest_id >= config.vocab_size:
        raise ValueError(
            f"its token ids go up to {largest_id}, but the encoder's vocabulary has {config.vocab_size}"
        )
    largest_type = max(_numbers_under(tokenizer.post_processor, "type_id"), default=0)
    if n_types > 1 and largest_type >= n_types:
        raise ValueError(f"its token types go up to {largest_type}, but the encoder has {n_types}")
    if n_added >= config.n_positions:
        raise ValueError(
            f"it adds {n_added} special tokens, but the encoder reads only {config.n_positions} tokens"
        )
    for text in (
        "",
        max(token_to_id, key=token_to_id.__getitem__, default=""),
    ):  # it may fail only when it is used
        encode(tokenizer, text)


def _numbers_under(processor: processors.PostProcessor | None, *keys: str) -> list[int]:
    """All whole numbers at any depth below the keys `keys` in a post-processor's JSON."""

    def collect(value: object, is_wanted: bool) -> Iterator[int]:
        if isinstance(value, dict):
            for key, inner_value in value.items():
                yield from collect(inner_value, key in keys)
        elif isinstance(value, list):
            for inner_value in value:
                yield from collect(inner_value, is_wanted)
        elif is_wanted and type(value) is int:
            yield value

    return [] if processor is None else list(collect(json.loads(processor.__getstate__()), False))


def _truncation_length(tokenizer: Tokenizer, options: dict[str, Any], config: ModelConfig) -> int:
    """The number of tokens to truncate to: `model_max_length`, but at most the encoder's number of positions.

    A length that leaves no room for other than special tokens is ignored. `transformers` writes 10^30 if there is no limit.
    """
    max_length = options.get("model_max_length")
    if isinstance(max_length, bool) or not isinstance(max_length, int):
        return config.n_positions
    is_usable = max_length > tokenizer.num_special_tokens_to_add(True)
    return min(config.n_positions, max_length) if is_usable else config.n_positions


def _tokenizer_from_files(folder: Path, options: dict[str, Any]) -> Tokenizer:
    if (folder / TOKENIZER).is_file():
        return open_tokenizer(read_object(folder / TOKENIZER, TOKENIZER))
    if (folder / VOCABULARY_LINES).is_file():
        path = folder / VOCABULARY_LINES
        is_protein = set(_read_pieces(path)) >= PROTEIN_ENDS
        tokenizer = _residue_tokenizer(path, options) if is_protein else _word_piece_tokenizer(path, options)
    elif (folder / VOCABULARY).is_file() and (folder / MERGES).is_file():
        tokenizer = _byte_pair_tokenizer(folder, options)
    else:
        tokenizer = _tokenizer_of_pieces(folder, options)
    check_tokenizer(json.loads(tokenizer.to_str()))
    return tokenizer


def _tokenizer_of_pieces(folder: Path, options: dict[str, Any]) -> Tokenizer:
    """The tokenizer in the file of SentencePiece in `folder`. Raises ValueError if there is none, or if it cannot be read."""
    path = next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)
    if path is None:
        others = sorted(other.name for other in folder.glob("*.model"))
        raise ValueError(f"{others[0]} is not read: save {TOKENIZER} as well" if others else NEEDED)
    return sentencepiece_tokenizer(path, options)


def _word_piece_tokenizer(path: Path, options: dict[str, Any]) -> Tokenizer:
    """BERT's WordPiece tokenizer, built from the list of word pieces in the file `path` and the options of
    tokenizer_config.json.
    """
    token_names = {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
        "pad_token": "[PAD]",
    }
    token_names = {key: token_name(options, key, name) for key, name in token_names.items()}
    pieces = _read_pieces(path)
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=token_names["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=bool(options.get("do_lower_case", True)),
        strip_accents=options.get("strip_accents"),
        handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens([name for name in token_names.values() if name in vocabulary])
    cls_token, sep_token = token_names["cls_token"], token_names["sep_token"]
    ids = token_ids(tokenizer, cls_token, sep_token, VOCABULARY_LINES)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls_token} $A {sep_token}",
        pair=f"{cls_token} $A {sep_token} $B:1 {sep_token}:1",
        special_tokens=ids,
    )
    return tokenizer


def _read_pieces(path: Path) -> list[str]:
    """The lines of a vocabulary; other ends of lines than line feeds are parts of pieces."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def _residue_tokenizer(path: Path, options: dict[str, Any]) -> Tokenizer:
    """ESM's tokenizer, built from the list of residues and special tokens in the file `path`: each residue is a token.

    What is no residue is one unknown token up to the next residue or space. Raises ValueError for a vocabulary without an
    unknown token, or one too long to be of residues.
    """
    pieces = [piece.strip() for piece in _read_pieces(path)]
    if len(pieces) > MOST_RESIDUES:
        raise ValueError(f"{path.name} has {len(pieces):,} residues; at most {MOST_RESIDUES:,} are read")
    names = {key: f"<{key}>" for key in ("unk", "cls", "eos", "mask", "pad")}
    names = {key: token_name(options, f"{key}_token", name) for key, name in names.items()}
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    if names["unk"] not in vocabulary:
        raise ValueError(f"{path.name} has no {names['unk']}")
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=names["unk"]))
    longest_first = sorted(filter(None, pieces), key=len, reverse=True)
    residue = Regex("|".join(map(re.escape, longest_first)))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(residue, "isolated")]
    )
    tokenizer.add_special_tokens([name for name in names.values() if name in vocabulary])
    cls, eos = names["cls"], names["eos"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {eos}",
        pair=f"{cls} $A {eos} $B {eos}",
        special_tokens=token_ids(tokenizer, cls, eos, path.name),
    )
    return tokenizer


def _byte_pair_tokenizer(folder: Path, options: dict[str, Any]) -> Tokenizer:
    """A byte-level BPE tokenizer, from the vocabulary and merges in `folder` and the options of tokenizer_config.json: CLIP's,
    if pieces of the vocabulary end words, and else RoBERTa's.
    """
    vocabulary, merges = models.BPE.read_file(str(folder / VOCABULARY), str(folder / MERGES))
    if any(piece.endswith(END_OF_WORD) for piece in vocabulary):
        return _clip_tokenizer(vocabulary, merges, options)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    adds_prefix_space = bool(options.get("add_prefix_space", False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=adds_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    token_names = {
        key: token_name(options, key, name)
        for key, name in (
            ("cls_token", "<s>"),
            ("sep_token", "</s>"),
            ("pad_token", "<pad>"),
            ("unk_token", "<unk>"),
        )
    }
    mask_token = AddedToken(token_name(options, "mask_token", "<mask>"), lstrip=True, special=True)
    known_tokens = [name for name in token_names.values() if tokenizer.token_to_id(name) is not None]
    tokenizer.add_special_tokens(
        [*known_tokens, *([mask_token] if tokenizer.token_to_id(mask_token.content) is not None else [])]
    )
    sep, cls = token_ids(tokenizer, token_names["sep_token"], token_names["cls_token"], VOCABULARY)
    tokenizer.post_processor = processors.RobertaProcessing(sep, cls, add_prefix_space=adds_prefix_space)
    return tokenizer


def _clip_tokenizer(
    vocabulary: dict[str, int], merges: list[tuple[str, str]], options: dict[str, Any]
) -> Tokenizer:
    """CLIP's byte-level BPE tokenizer, in which the last piece of a word ends in "</w>", and texts are read in lower case."""
    start = token_name(options, "bos_token", "<|startoftext|>")
    end, unknown, padding = (
        token_name(options, f"{key}_token", "<|endoftext|>") for key in ("eos", "unk", "pad")
    )
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, end_of_word_suffix=END_OF_WORD, unk_token=unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    word = Regex(
        r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(word, behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [name for name in dict.fromkeys((start, end, unknown, padding)) if name in vocabulary]
    )
    sep, cls = token_ids(tokenizer, end, start, VOCABULARY)
    tokenizer.post_processor = processors.RobertaProcessing(
        sep, cls, trim_offsets=False, add_prefix_space=False
    )
    return tokenizer
