"""Reads the `.model` file of SentencePiece (Kudo and Richardson 2018).

`protobuf` parses the file, and what it holds is checked and opened as a `tokenizer.json`. SentencePiece's own library is not
used: it trusts the file, and a crafted one ends the process (google/sentencepiece, issues 1263 and 1269).
"""

import base64
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from tokenizers import AddedToken

from ..files.content import read_bounded
from ..files.encoder_files import TOKENIZER

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


@dataclass(frozen=True, slots=True)
class SentencePieceFile:
    """What a file of SentencePiece holds."""

    pieces: list[tuple[str, float]]  # in the order of their ids, each with its score
    unknown_id: int
    charsmap: str | None  # the map of characters, in base64
    added: list[AddedToken]  # pieces that are looked for before a text is split


def read_sentencepiece(path: Path) -> SentencePieceFile:
    """The content of the file `path`.

    Raises ValueError, with a one-sentence message, if the file is damaged, or if its vocabulary is not for Unigram.
    """
    model = _parse(path)
    try:
        names = [piece.piece.decode() for piece in model.pieces]
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} has a piece that is not text in UTF-8") from None
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    return SentencePieceFile(
        pieces=[(name, float(piece.score)) for name, piece in zip(names, model.pieces, strict=True)],
        unknown_id=model.trainer_spec.unk_id,
        charsmap=charsmap or None,
        added=[
            AddedToken(name, special=piece.type == CONTROL, normalized=False)
            for name, piece in zip(names, model.pieces, strict=True)
            if piece.type in (CONTROL, USER_DEFINED)
        ],
    )


def _parse(path: Path) -> Any:
    """The message in the file. Raises ValueError if it is damaged or too large, or if its vocabulary is not for Unigram."""
    model = _message_class()()
    try:
        model.ParseFromString(read_bounded(path, LARGEST_MODEL))
    except DecodeError:
        raise ValueError(f"{path.name} is damaged, or not a file of SentencePiece") from None
    if not 1 <= len(model.pieces) <= MOST_PIECES:
        raise ValueError(f"{path.name} has {len(model.pieces):,} pieces; from 1 to {MOST_PIECES:,} are read")
    if (number := model.trainer_spec.model_type) != UNIGRAM:
        what = MODEL_TYPES.get(number, f"a vocabulary of type {number}")
        raise ValueError(
            f"{path.name} holds {what}, and only Unigram is read from it: save {TOKENIZER} as well"
        )
    if not all(isfinite(piece.score) for piece in model.pieces):
        raise ValueError(f"{path.name} has a score that is not finite")
    return model


def _message_class() -> Any:
    """The class of SentencePiece's message with the fields in `_FIELDS`; a file's other fields are passed over."""
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
