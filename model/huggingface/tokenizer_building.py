"""Makes a tokenizer from a vocabulary, by the rules of the tokenizer's class.

`protobuf` parses the `.model` file of SentencePiece (Kudo and Richardson 2018), whose content is then checked and opened like a
`tokenizer.json`. SentencePiece's own library is not used, since a crafted file can end its process (google/sentencepiece, issues
1263 and 1269).
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from tokenizers import AddedToken, Tokenizer, models, processors

from ..files.content import read_bounded
from ..files.encoder_files import MERGES, SENTENCEPIECE, TOKENIZER, VOCABULARY, VOCABULARY_LINES
from ..files.tokenizer_check import open_tokenizer
from ..record.pieces import GPT2_BYTES
from .tokenizer_classes import TokenizerClass
from .tokenizer_settings import TokenizerSettings

LARGEST_MODEL = 2**23  # bytes; that of XLM-R has 5 million
MOST_PIECES = 2**19  # mT5 has 250,100
UNIGRAM = 1
MODEL_TYPES = {2: "byte pairs (BPE)", 3: "words", 4: "characters"}
CONTROL, USER_DEFINED = 3, 4  # types of pieces that are looked for before a text is split

# Of sentencepiece_model.proto (Apache 2.0) the fields that are read: number, type as in descriptor.proto, default
_FLOAT, _INT32, _MESSAGE, _BYTES = 2, 5, 11, 12
_FIELDS: dict[str, dict[str, tuple[int, int, str]]] = {
    "Piece": {"piece": (1, _BYTES, ""), "score": (2, _FLOAT, ""), "type": (3, _INT32, "1")},
    "TrainerSpec": {"model_type": (3, _INT32, "1"), "unk_id": (40, _INT32, "0")},
    "NormalizerSpec": {"precompiled_charsmap": (2, _BYTES, "")},
    "Model": {
        "pieces": (1, _MESSAGE, "Piece"),
        "trainer_spec": (2, _MESSAGE, "TrainerSpec"),
        "normalizer_spec": (3, _MESSAGE, "NormalizerSpec"),
    },
}
MOST_RESIDUES = 1000
NEEDED = f"there is no {TOKENIZER}, no {VOCABULARY_LINES}, no {VOCABULARY} with {MERGES}, and none of {', '.join(SENTENCEPIECE)}"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The vocabulary of a tokenizer, in one form for all kinds of vocabulary files."""

    file: str
    model: str  # its type, as a tokenizer.json names it
    pieces: Any  # ids by pieces, or of a Unigram vocabulary pairs of a piece and its score, in the order of their ids
    merges: Any = ()  # of byte pairs
    charsmap: str | None = None  # SentencePiece's map of characters, in base64
    unknown_id: int = 1  # of a Unigram vocabulary, where the file says it
    # pieces that the file of SentencePiece marks, to be looked for before a text is split
    added: tuple[AddedToken, ...] | None = None


def read_sentencepiece(path: Path) -> Vocabulary:
    """The vocabulary in the `.model` file at `path`.

    Raises ValueError, with a one-sentence message, if the file is damaged, or if its vocabulary is not for Unigram.
    """
    model = _parse_message(path)
    try:
        names = [piece.piece.decode() for piece in model.pieces]
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} has a piece that is not text in UTF-8") from None
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    return Vocabulary(
        path.name,
        "Unigram",
        [(name, float(piece.score)) for name, piece in zip(names, model.pieces, strict=True)],
        unknown_id=model.trainer_spec.unk_id,
        charsmap=charsmap or None,
        added=tuple(
            AddedToken(name, special=piece.type == CONTROL, normalized=False)
            for name, piece in zip(names, model.pieces, strict=True)
            if piece.type in (CONTROL, USER_DEFINED)
        ),
    )


def _parse_message(path: Path) -> Any:
    """The protobuf message in the file at `path`.

    Raises ValueError if the file is damaged or too large, or if its vocabulary is not for Unigram.
    """
    model = _message_class()()
    try:
        model.ParseFromString(read_bounded(path, LARGEST_MODEL))
    except DecodeError:
        raise ValueError(f"{path.name} is damaged, or not a file of SentencePiece") from None
    if not 1 <= len(model.pieces) <= MOST_PIECES:
        raise ValueError(f"{path.name} has {len(model.pieces):,} pieces; from 1 to {MOST_PIECES:,} are read")
    if (number := model.trainer_spec.model_type) != UNIGRAM:
        kind = MODEL_TYPES.get(number, f"a vocabulary of type {number}")
        raise ValueError(
            f"{path.name} holds {kind}, and only Unigram is read from it: save {TOKENIZER} as well"
        )
    if not all(isfinite(piece.score) for piece in model.pieces):
        raise ValueError(f"{path.name} has a score that is not finite")
    return model


def _message_class() -> Any:
    """The class of SentencePiece's protobuf message, with the fields in `_FIELDS` only; other fields of a file are ignored."""
    file = descriptor_pb2.FileDescriptorProto(name="sentencepiece_file.proto", package="loupe")
    for message_name, fields in _FIELDS.items():
        message = file.message_type.add(name=message_name)
        for name, (number, kind, default) in fields.items():
            field = message.field.add(name=name, number=number, type=kind, label=3 if name == "pieces" else 1)
            if kind == _MESSAGE:
                field.type_name = f".loupe.{default}"
            elif default:
                field.default_value = default
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("loupe.Model"))


def stored_vocabulary(stored: dict[str, Any], options: Mapping[str, Any]) -> Vocabulary:
    """The vocabulary in the tokenizer.json `stored`; `options` are the settings in tokenizer_config.json."""
    model = stored.get("model")
    model = model if isinstance(model, dict) else {}
    pieces, merges = model.get("vocab"), model.get("merges")
    guessed = "BPE" if merges is not None else "Unigram" if isinstance(pieces, list) else "WordPiece"
    normalizer = stored.get("normalizer")
    normalizer = normalizer if isinstance(normalizer, dict) else {}
    maps = normalizer.get("normalizers") if normalizer.get("type") == "Sequence" else [normalizer]
    charsmaps = [part.get("precompiled_charsmap") for part in maps or () if isinstance(part, dict)]
    unknown_id = options.get("unk_id", 1)
    return Vocabulary(
        TOKENIZER,
        str(model.get("type") or guessed),
        [tuple(piece) for piece in pieces] if isinstance(pieces, list) else pieces,
        merges,
        next(filter(None, charsmaps), None),
        unknown_id if type(unknown_id) is int else 1,
    )


def vocabulary_of_files(folder: Path, wanted_type: str | None) -> Vocabulary:
    """The vocabulary of the type `wanted_type`, such as "Unigram", or else that of the first vocabulary file in the folder.

    Raises ValueError if there is no vocabulary file.
    """
    lines, pairs, merges = (folder / name for name in (VOCABULARY_LINES, VOCABULARY, MERGES))
    pieces = next((folder / name for name in SENTENCEPIECE if (folder / name).is_file()), None)
    types = {
        "WordPiece": lines.is_file(),
        "BPE": pairs.is_file() and merges.is_file(),
        "Unigram": pieces is not None,
    }
    model = (
        wanted_type
        if types.get(str(wanted_type))
        else next((model for model, exists in types.items() if exists), None)
    )
    if model == "WordPiece":
        return Vocabulary(VOCABULARY_LINES, model, models.WordPiece.read_file(str(lines)))
    if model == "BPE":
        return Vocabulary(VOCABULARY, model, *models.BPE.read_file(str(pairs), str(merges)))
    if pieces is not None:
        return read_sentencepiece(pieces)
    others = sorted(other.name for other in folder.glob("*.model"))
    raise ValueError(f"{others[0]} is not read: save {TOKENIZER} as well" if others else NEEDED)


def byte_vocabulary() -> Vocabulary:
    """ByT5's vocabulary, which needs no file: three special tokens and the 256 bytes, as the characters of ByteLevel."""
    pieces = {"<pad>": 0, "</s>": 1, "<unk>": 2}
    pieces |= {character: byte + 3 for character, byte in GPT2_BYTES.items()}
    return Vocabulary("the list of bytes", "bytes", pieces)


def tokenizer_of_class(
    kind: TokenizerClass, vocabulary: Vocabulary, settings: TokenizerSettings
) -> Tokenizer:
    """The tokenizer that a class makes of a vocabulary, as `transformers` makes it.

    Raises ValueError, with a one-sentence message, if the two do not fit.
    """
    options = settings.options
    named = settings.named_tokens(kind.default_tokens())
    names = {key: token.content for key, token in named.items()}
    pieces = vocabulary.pieces
    other_tokens = [AddedToken(name, special=True) for name in kind.other_names(options)]
    if vocabulary.added is None:
        extra_tokens = settings.extra_tokens(other_tokens)
    else:
        pieces = kind.spm_vocabulary(pieces, names, options)
        marked = [*vocabulary.added, *(other_tokens if kind.adds_other_names_to_marked else ())]
        extra_tokens = settings.extra_tokens(marked, reads_former_key=False)
    model = {"type": "BPE" if kind.model == "bytes" else kind.model, "vocab": pieces, **kind.model_settings}
    if kind.passes_unknown_token:
        model["unk_token"] = names["unk_token"]
    if model["type"] == "BPE":
        model["merges"] = list(vocabulary.merges)
    if kind.model == "Unigram":
        unknown_id = kind.unknown_id(pieces, names["unk_token"])
        unknown_id = vocabulary.unknown_id if unknown_id is None else unknown_id
        if not 0 <= unknown_id < len(pieces):
            raise ValueError(
                f"{vocabulary.file} has no piece {unknown_id:,}, which should be the unknown token"
            )
        model |= {"unk_id": unknown_id, "byte_fallback": False}
    normalizer, pre_tokenizer, decoder = kind.components(options, vocabulary.charsmap)
    tokenizer = open_tokenizer(
        {
            "version": "1.0",
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer,
            "decoder": decoder,
            "model": model,
        }
    )
    if kind.model == "Unigram":  # files of SentencePiece often lack the ends of texts, which are then added
        settings.add_tokens(tokenizer, named, extra_tokens)
    end_names = [names[key] for key in kind.end_keys]
    if any(tokenizer.token_to_id(name) is None and name not in settings.listed_names for name in end_names):
        raise ValueError(f"{vocabulary.file} has no {' or no '.join(end_names)}, which stand around a text")
    if kind.model != "Unigram":
        settings.add_tokens(tokenizer, named, extra_tokens)
    ids = {key: (name, tokenizer.token_to_id(name)) for key, name in names.items()}
    known_ids = {key: (name, index) for key, (name, index) in ids.items() if index is not None}
    tokenizer.post_processor = kind.post_processor(known_ids, options)
    return tokenizer


def residue_tokenizer(path: Path, settings: TokenizerSettings) -> Tokenizer:
    """ESM's tokenizer for proteins, in which each residue is a token; the file at `path` lists residues and special tokens.

    Characters that are no residue form one unknown token, up to the next residue or space. Raises ValueError for a list
    without an unknown token, or one too long to be of residues.
    """
    pieces = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    if len(pieces) > MOST_RESIDUES:
        raise ValueError(f"{path.name} has {len(pieces):,} residues; at most {MOST_RESIDUES:,} are read")
    defaults = {
        f"{key}_token": AddedToken(f"<{key}>", special=True) for key in ("unk", "cls", "eos", "mask", "pad")
    }
    named = settings.named_tokens(defaults)
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    for key in ("unk_token", "cls_token", "eos_token"):
        if named[key].content not in vocabulary:
            raise ValueError(f"{path.name} has no {named[key].content}")
    longest_first = sorted(filter(None, pieces), key=len, reverse=True)
    residues = {"Regex": "|".join(map(re.escape, longest_first))}
    splits = [
        {"type": "WhitespaceSplit"},
        {"type": "Split", "pattern": residues, "behavior": "Isolated", "invert": False},
    ]
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": named["unk_token"].content}
    pre_tokenizer = {"type": "Sequence", "pretokenizers": splits}
    tokenizer = open_tokenizer({"version": "1.0", "model": model, "pre_tokenizer": pre_tokenizer})
    settings.add_tokens(tokenizer, named, settings.extra_tokens())
    cls, eos = named["cls_token"].content, named["eos_token"].content
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {eos}",
        pair=f"{cls} $A {eos} $B {eos}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in (cls, eos)],
    )
    return tokenizer
