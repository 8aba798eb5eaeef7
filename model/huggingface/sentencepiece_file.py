"""Tokenizers from the `.model` file of SentencePiece (Kudo and Richardson 2018), as the converters of `transformers` make them.

Vocabulary, normalisation and templates of each family are those of convert_slow_tokenizer.py, by which the `tokenizer.json`
files of these families were made. `protobuf` parses the file, and what it holds is checked and opened as a `tokenizer.json`.
SentencePiece's own library is not used: it trusts the file, and a crafted one ends the process (google/sentencepiece,
issues 1263 and 1269).
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from tokenizers import AddedToken, Tokenizer, processors

from ..files.content import read_bounded
from ..files.encoder_files import ADDED_TOKENS, CONFIG, TOKENIZER
from ..files.json_file import read_object
from ..files.tokenizer_check import MOST_ADDED, open_tokenizer
from .token_names import token_name

LARGEST_MODEL = 2**23  # bytes; that of XLM-R has 5 million
MOST_PIECES = 2**19  # mT5 has 250,100
UNIGRAM = 1
MODEL_TYPES = {2: "byte pairs (BPE)", 3: "words", 4: "characters"}
CONTROL, USER_DEFINED = 3, 4  # types of pieces that are looked for before a text is split
N_SENTINELS = 100  # <extra_id_0> to <extra_id_99>, T5's marks of what was left out
MARKS = ("single_word", "lstrip", "rstrip", "normalized", "special")

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

Options = Mapping[str, Any]  # of tokenizer_config.json
Pieces = list[tuple[str, float]]  # in the order of their ids, each with its score
Components = list[dict[str, Any]]  # of a tokenizer.json


@dataclass(frozen=True, slots=True)
class _Kind:
    """What the tokenizers of one class add to what the file holds."""

    names: Mapping[str, str]  # of the special tokens, by their keys in tokenizer_config.json
    single: tuple[str, ...]  # the template of a text: keys, and the text $A; a number is the token type
    pair: tuple[str, ...]
    normalizers: Callable[[Options, Components], Components]  # given the character map
    vocabulary: Callable[[Pieces, Options], Pieces]
    unknown_id: int | None = None  # None: as the file says
    other_names: Callable[[Options], list[str]] = lambda _: []  # of special tokens without a key
    mask_takes_space: bool = False  # whether the space before the mask belongs to it


def sentencepiece_tokenizer(path: Path, options: Options) -> Tokenizer:
    """The tokenizer of the file `path`, as `transformers` reads it for the encoder in the same folder.

    Raises ValueError, with a one-sentence message, if the file is damaged, if its vocabulary is not for Unigram, or if the
    tokenizers of this encoder are not known; and any error of the library.
    """
    kind = _find_kind(path, options)
    model = _parse(path)
    try:
        names_in_file = [piece.piece.decode() for piece in model.pieces]
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} has a piece that is not text in UTF-8") from None
    pieces = [(name, float(piece.score)) for name, piece in zip(names_in_file, model.pieces, strict=True)]
    vocabulary = kind.vocabulary(pieces, options)
    unknown_id = model.trainer_spec.unk_id if kind.unknown_id is None else kind.unknown_id
    if not 0 <= unknown_id < len(vocabulary):
        raise ValueError(f"{path.name} has no piece {unknown_id:,}, which should be the unknown token")
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    maps = [{"type": "Precompiled", "precompiled_charsmap": charsmap}] if charsmap else []
    spaces = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": _prepend_scheme(options),
        "split": True,
    }
    splits = [{"type": "Punctuation", "behavior": "Isolated"}] if options.get("split_by_punct") else []
    tokenizer = open_tokenizer(
        {
            "version": "1.0",
            "normalizer": {"type": "Sequence", "normalizers": kind.normalizers(options, maps)},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits, spaces]},
            "decoder": spaces,
            "model": {"type": "Unigram", "unk_id": unknown_id, "vocab": vocabulary, "byte_fallback": False},
        }
    )
    names = {key: token_name(options, key, name) for key, name in kind.names.items()}
    marked = [
        AddedToken(name, special=piece.type == CONTROL, normalized=False)
        for name, piece in zip(names_in_file, model.pieces, strict=True)
        if piece.type in (CONTROL, USER_DEFINED)
    ]
    tokenizer.add_tokens(_added_tokens(path.parent, kind, names, marked, options))
    ends = {names[key] for key in ("cls_token", "sep_token", "eos_token") if key in names}
    single, pair = (
        [
            part.replace(key, names[key]) if (key := part.partition(":")[0]) in names else part
            for part in template
        ]
        for template in (kind.single, kind.pair)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in sorted(ends)],
    )
    return tokenizer


def _find_kind(path: Path, options: Options) -> _Kind:
    """The kind of tokenizer that the folder of `path` names, or else that of its encoder's family."""
    values = read_object(path.parent / CONFIG, CONFIG)
    named = (str(source.get("tokenizer_class")).removesuffix("Fast") for source in (options, values))
    for tokenizer_class in (*named, TOKENIZER_CLASSES.get(str(values.get("model_type")))):
        if tokenizer_class in _KINDS:
            return _KINDS[tokenizer_class]
    raise ValueError(f"{path.name} alone is not enough for this encoder: save {TOKENIZER} as well")


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


def _added_tokens(
    folder: Path, kind: _Kind, names: Mapping[str, str], marked: list[AddedToken], options: Options
) -> list[AddedToken]:
    """The tokens that are looked for in a text before it is split; those that the vocabulary lacks follow it, in this order.

    What tokenizer_config.json says about a token comes before what its kind says, and that before what the file says.
    """
    special = {
        name: AddedToken(
            name, special=True, normalized=False, lstrip=kind.mask_takes_space and key == "mask_token"
        )
        for key, name in [*((None, name) for name in kind.other_names(options)), *names.items()]
    }
    listed: dict[int, AddedToken] = {}
    path = folder / ADDED_TOKENS
    for name, index in (read_object(path, ADDED_TOKENS) if path.is_file() else {}).items():
        if type(index) is int:
            listed[index] = special.get(name, AddedToken(name))
    decoder = options.get("added_tokens_decoder")
    for index, token in (decoder if isinstance(decoder, dict) else {}).items():
        if isinstance(token, dict) and isinstance(token.get("content"), str) and index[:9].isdecimal():
            listed[int(index[:9])] = AddedToken(
                token["content"], **{mark: token.get(mark) is True for mark in MARKS}
            )
    in_order = [listed[index] for index in sorted(listed)]
    by_name = {token.content: token for token in (*marked, *in_order, *special.values())}
    by_name |= {token.content: token for token in in_order}
    if len(by_name) > MOST_ADDED:
        raise ValueError(
            f"it adds {len(by_name):,} tokens to its vocabulary, and at most {MOST_ADDED:,} are read"
        )
    return [token for name, token in by_name.items() if name]


def _prepend_scheme(options: Options) -> str:
    """Before which parts of a text the mark of a word's beginning is put: all, none, or the first one."""
    if options.get("add_prefix_space") is False:
        return "never"
    return "first" if options.get("legacy") is False else "always"


# Vocabularies


def _as_stored(pieces: Pieces, _: Options) -> Pieces:
    return pieces


def _fairseq_vocabulary(pieces: Pieces, _: Options) -> Pieces:
    """XLM-R's: the special tokens of fairseq take the place of the file's first three, and the mask follows."""
    return [*((name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")), *pieces[3:], ("<mask>", 0.0)]


def _camembert_vocabulary(pieces: Pieces, _: Options) -> Pieces:
    """CamemBERT's: five tokens of fairseq before all but the file's first piece, and the mask after them."""
    first = [
        ("<s>NOTUSED", 0.0),
        ("<pad>", 0.0),
        ("</s>NOTUSED", 0.0),
        ("<unk>", 0.0),
        ("<unk>NOTUSED", -100.0),
    ]
    return [*first, *pieces[1:], ("<mask>", 0.0)]


def _albert_vocabulary(pieces: Pieces, _: Options) -> Pieces:
    """ALBERT's: pieces that end with a digit and a comma are hardly ever used."""
    return [
        (piece, score - 100 if len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit() else score)
        for piece, score in pieces
    ]


def _t5_vocabulary(pieces: Pieces, options: Options) -> Pieces:
    return [*pieces, *((name, 0.0) for name in _sentinels(options))]


def _sentinels(options: Options) -> list[str]:
    """T5's marks of what was left out of a text, the last one first."""
    n = options.get("extra_ids", N_SENTINELS)
    if type(n) is not int or not 0 <= n <= MOST_ADDED:
        raise ValueError(f"its extra_ids must be a whole number from 0 to {MOST_ADDED:,}")
    return [f"<extra_id_{index}>" for index in reversed(range(n))]


# Normalizers


def _replace(old: str, new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def _fewer_spaces(new: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": new}


def _common_normalizers(_: Options, maps: Components) -> Components:
    return [*maps, {"type": "Strip", "strip_left": False, "strip_right": True}, _fewer_spaces("▁")]


def _deberta_normalizers(options: Options, maps: Components) -> Components:
    lower = [{"type": "Lowercase"}] if options.get("do_lower_case") else []
    return [*lower, {"type": "Strip", "strip_left": True, "strip_right": True}, *maps, _fewer_spaces(" ")]


def _albert_normalizers(options: Options, maps: Components) -> Components:
    accents = [] if options.get("keep_accents") else [{"type": "NFKD"}, {"type": "StripAccents"}]
    lower = [{"type": "Lowercase"}] if options.get("do_lower_case", True) else []
    return [_replace("``", '"'), _replace("''", '"'), *accents, *lower, *maps, _fewer_spaces(" ")]


_BERT_NAMES = {"sep_token": "[SEP]", "cls_token": "[CLS]", "mask_token": "[MASK]"}
_BERT_SINGLE = ("cls_token", "$A", "sep_token")
_BERT_PAIR = (*_BERT_SINGLE, "$B:1", "sep_token:1")
_FAIRSEQ_NAMES = {"sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "cls_token": "<s>", "mask_token": "<mask>"}  # fmt: skip
_FAIRSEQ_PAIR = (*_BERT_SINGLE, "sep_token", "$B", "sep_token")
_KINDS: dict[str, _Kind] = {
    "DebertaV2Tokenizer": _Kind(
        {"unk_token": "[UNK]", "pad_token": "[PAD]"} | _BERT_NAMES,
        _BERT_SINGLE,
        _BERT_PAIR,
        _deberta_normalizers,
        _as_stored,
    ),
    "AlbertTokenizer": _Kind(
        {"unk_token": "<unk>", "pad_token": "<pad>"} | _BERT_NAMES,
        _BERT_SINGLE,
        _BERT_PAIR,
        _albert_normalizers,
        _albert_vocabulary,
        mask_takes_space=True,
    ),
    "XLMRobertaTokenizer": _Kind(
        _FAIRSEQ_NAMES,
        _BERT_SINGLE,
        _FAIRSEQ_PAIR,
        _common_normalizers,
        _fairseq_vocabulary,
        unknown_id=3,
        mask_takes_space=True,
    ),
    "CamembertTokenizer": _Kind(
        _FAIRSEQ_NAMES,
        _BERT_SINGLE,
        _FAIRSEQ_PAIR,
        _common_normalizers,
        _camembert_vocabulary,
        unknown_id=3,
        other_names=lambda _: ["<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"],
        mask_takes_space=True,
    ),
    "T5Tokenizer": _Kind(
        {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
        ("$A", "eos_token"),
        ("$A", "eos_token", "$B", "eos_token"),
        _common_normalizers,
        _t5_vocabulary,
        other_names=_sentinels,
    ),
}
# By the model_type of encoders whose files name no class
TOKENIZER_CLASSES = {
    "deberta-v2": "DebertaV2Tokenizer",
    "albert": "AlbertTokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "camembert": "CamembertTokenizer",
    "t5": "T5Tokenizer",
    "mt5": "T5Tokenizer",
    "umt5": "T5Tokenizer",
}
