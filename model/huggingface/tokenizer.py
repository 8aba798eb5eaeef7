"""Reads the tokenizer of a folder in Hugging Face's layout, so that its tokens are those of `transformers` for the same folder.

The tokenizer's class, which tokenizer_config.json or config.json names, decides how its vocabulary is read, also one in a
tokenizer.json (`model.huggingface.tokenizer_classes`). If that class is not known, the tokenizer.json is opened as it is.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from tokenizers import AddedToken, Tokenizer, processors

from ..config import ModelConfig
from ..files.content import LARGEST_JSON, read_object
from ..files.encoder_files import CONFIG, MERGES, TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, VOCABULARY_LINES
from ..files.errors import errors_in_one_sentence
from ..files.tokenizer_check import check_tokenizer, open_tokenizer
from ..inputs.text import encode
from .tokenizer_building import (
    Vocabulary,
    byte_vocabulary,
    residue_tokenizer,
    stored_vocabulary,
    tokenizer_of_class,
    vocabulary_of_files,
)
from .tokenizer_classes import (
    CLASS_BY_FAMILY,
    CLASSES,
    END_OF_WORD,
    FAMILIES_READ_AS_STORED,
    OWN_CODE,
    TokenizerClass,
    classes_of,
)
from .tokenizer_settings import TokenizerSettings, read_settings

FILES = (TOKENIZER, VOCABULARY_LINES, VOCABULARY, MERGES, TOKENIZER_CONFIG)
BYTE_PAIR_CODES = "bpe.codes"
# names that tell nothing about the class
ANY_CLASS = (None, "PreTrainedTokenizer", "TokenizersBackend", "PythonBackend")
ESM, BYT5, SIGLIP = "EsmTokenizer", "ByT5Tokenizer", "SiglipTokenizer"
SIGLIP2 = ("GemmaTokenizer", "Siglip2Tokenizer")


def read_tokenizer(folder: Path, config: ModelConfig) -> tuple[Tokenizer, tuple[str, ...]]:
    """The tokenizer of a folder, and sentences on where it differs from the encoder's own library or from its tokenizer.json.

    The tokenizer truncates texts to the encoder's length, and pads them if the encoder attends to padding. Raises ValueError,
    with a one-sentence message, if it cannot be used.
    """
    if any((folder / name).stat().st_size > LARGEST_JSON for name in FILES if (folder / name).is_file()):
        raise ValueError(f"the tokenizer cannot be used: it is larger than {LARGEST_JSON >> 20} MB")
    with errors_in_one_sentence("the tokenizer cannot be used"):
        path = folder / TOKENIZER
        stored = read_object(path, TOKENIZER) if path.is_file() else None
        if stored is not None:
            check_tokenizer(stored)
        assert config.vocab_size is not None  # an encoder of texts
        settings = read_settings(folder, stored and stored.get("added_tokens"), config.vocab_size)
        if (class_name := settings.class_name) in OWN_CODE:
            raise ValueError(
                f"{class_name} {OWN_CODE[class_name]}, which is not followed here; with its own tokenizer the encoder can be "
                "shown as a record (loupe.from_transformers)"
            )
        if stored is None and class_name is None and (folder / BYTE_PAIR_CODES).is_file():
            raise ValueError(
                f"its byte pairs are in {BYTE_PAIR_CODES}, as those of PhoBERT and BERTweet, whose tokenizers are not followed here"
            )
        tokenizer, notes = _tokenizer_and_notes(folder, settings, stored, config)
        tokenizer.encode_special_tokens = settings.options.get("split_special_tokens") is True
        _check_fit(tokenizer, config)
        truncation_side = "left" if settings.options.get("truncation_side") == "left" else "right"
        length = _truncation_length(tokenizer, settings.options, config)
        tokenizer.enable_truncation(length, direction=truncation_side)
        if config.family.padded:
            _enable_padding(tokenizer, stored, settings, config.n_positions)
        return tokenizer, tuple(notes)


def _enable_padding(tokenizer: Tokenizer, stored: Any, settings: TokenizerSettings, length: int) -> None:
    """Sets the tokenizer to pad texts to `length` tokens; `stored` is the tokenizer.json, None if the folder has none.

    Raises ValueError if the padding token is not known.
    """
    if stored is None:  # SigLIP's takes punctuation away, of which the other files say nothing
        raise ValueError(f"it cannot be built from other files: save {TOKENIZER} as well")
    token = settings.named_tokens({"pad_token": AddedToken("</s>")})["pad_token"]
    if (padding_id := tokenizer.token_to_id(token.content)) is None:
        raise ValueError(f"its pad_token {shortened(token.content)} is not in its vocabulary")
    side = settings.options.get("padding_side", "left" if settings.class_name in SIGLIP2 else "right")
    tokenizer.enable_padding(
        length=length,
        pad_id=padding_id,
        pad_token=token.content,
        direction="left" if side == "left" else "right",
    )


def _check_fit(tokenizer: Tokenizer, config: ModelConfig) -> None:
    """Raises ValueError if the tokenizer produces token ids or token types that the encoder does not have."""
    assert config.vocab_size is not None  # an encoder of texts
    n_types, n_added = config.family.n_token_types, tokenizer.num_special_tokens_to_add(False)
    added_ids = _numbers_below_keys(tokenizer.post_processor, "ids", "sep", "cls")
    token_to_id = tokenizer.get_vocab()
    largest_id = max([*token_to_id.values(), *added_ids], default=-1)
    if largest_id >= config.vocab_size:
        raise ValueError(
            f"its token ids go up to {largest_id}, but the encoder's vocabulary has {config.vocab_size}"
        )
    largest_type = max(_numbers_below_keys(tokenizer.post_processor, "type_id"), default=0)
    if n_types > 1 and largest_type >= n_types:
        raise ValueError(f"its token types go up to {largest_type}, but the encoder has {n_types}")
    if n_added >= config.n_positions:
        raise ValueError(
            f"it adds {n_added} special tokens, but the encoder reads only {config.n_positions} tokens"
        )
    last_token = max(token_to_id, key=token_to_id.__getitem__, default="")
    for text in ("", last_token):  # it may fail only when it is used
        encode(tokenizer, text)


def _numbers_below_keys(processor: processors.PostProcessor | None, *keys: str) -> list[int]:
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


def _truncation_length(tokenizer: Tokenizer, options: Mapping[str, Any], config: ModelConfig) -> int:
    """The number of tokens to truncate to: `model_max_length`, but at most the encoder's number of positions.

    A length that leaves room for special tokens only is ignored. `transformers` writes 10^30 if there is no limit; its former
    versions wrote `max_len`.
    """
    max_length = options.get("model_max_length", options.get("max_len"))
    if isinstance(max_length, bool) or not isinstance(max_length, int):
        return config.n_positions
    is_usable = max_length > tokenizer.num_special_tokens_to_add(True)
    return min(config.n_positions, max_length) if is_usable else config.n_positions


def _tokenizer_and_notes(
    folder: Path, settings: TokenizerSettings, stored: dict[str, Any] | None, config: ModelConfig
) -> tuple[Tokenizer, list[str]]:
    """The tokenizer of a folder, without truncation and padding yet, and notes on how it is read.

    `stored` is the content of the folder's tokenizer.json, None if it has none.
    """
    model_type = read_object(folder / CONFIG, CONFIG).get("model_type")
    is_named = settings.class_name not in ANY_CLASS
    class_name = settings.class_name if is_named else CLASS_BY_FAMILY.get(str(model_type))
    if class_name == ESM and (folder / VOCABULARY_LINES).is_file():
        return residue_tokenizer(folder / VOCABULARY_LINES, settings), []
    if stored is None:
        auto_map = settings.options.get("auto_map")
        if isinstance(auto_map, dict) and "AutoTokenizer" in auto_map and class_name not in CLASSES:
            raise ValueError(
                f"it is made by code of its own (auto_map), which is not run: save {TOKENIZER} as well"
            )
        return _tokenizer_of_vocabulary(folder, settings, class_name, is_named)
    notes: list[str] = []
    kind = CLASSES.get(class_name or "")
    if kind is None or model_type in FAMILIES_READ_AS_STORED or settings.class_name in ANY_CLASS[1:]:
        if config.family.padded:
            notes += _prepare_for_siglip(stored, settings)
        elif is_named and class_name != ESM and model_type not in FAMILIES_READ_AS_STORED:
            notes.append(f"Texts are read as {TOKENIZER} says; other rules of {class_name} are not followed.")
        return _tokenizer_as_stored(stored, settings), notes
    vocabulary = stored_vocabulary(stored, settings.options)
    names = settings.named_tokens(kind.default_tokens())
    own_parts = kind.components(settings.options, vocabulary.charsmap)[:2]
    (normalizer, splits), (own_normalizer, own_splits) = (
        [[name for name in _component_types(part) if name != "WhitespaceSplit"] for part in parts]
        for parts in ((stored.get("normalizer"), stored.get("pre_tokenizer")), own_parts)
    )
    is_other = vocabulary.model != kind.model or _lacks_end_token(kind, names, vocabulary, settings)
    if is_other or (splits != own_splits and not is_named):
        if is_named:
            notes.append(f"Texts are read as {TOKENIZER} says, which holds no vocabulary of {class_name}.")
        elif not is_other:
            notes.append(
                f"Texts are read as {TOKENIZER} says. No file names the class of the tokenizer, and transformers would take "
                f"{class_name}, which divides texts in another way."
            )
        return _tokenizer_as_stored(stored, settings), notes
    if (normalizer, splits) != (own_normalizer, own_splits):
        notes.append(
            f"Texts are prepared as {class_name} does it in transformers 5, which differs from what {TOKENIZER} says."
        )
    return tokenizer_of_class(kind, vocabulary, settings), notes


def _component_types(component: Any) -> list[str]:
    """The types of the components of one part of a tokenizer.json, such as its normalizer, in their order."""
    if not isinstance(component, dict):
        return []
    inner = component.get("normalizers", component.get("pretokenizers"))
    if not isinstance(inner, list):
        return [str(component.get("type"))]
    return [name for part in inner for name in _component_types(part)]


def _tokenizer_as_stored(stored: dict[str, Any], settings: TokenizerSettings) -> Tokenizer:
    """The tokenizer that the tokenizer.json `stored` describes, with the tokens that other files of the folder add."""
    tokenizer = open_tokenizer(stored)
    settings.add_tokens(tokenizer, settings.named_tokens({}), settings.extra_tokens())
    return tokenizer


def _prepare_for_siglip(stored: dict[str, Any], settings: TokenizerSettings) -> list[str]:
    """Adds the first steps of SigLIP's own preparation of texts to the normalizer in `stored`; returns notes about them."""
    lower: dict[str, Any] = {"type": "Lowercase"}
    if settings.class_name in SIGLIP2:
        first, note = [lower], "Texts are read in lower case, as SigLIP 2 was trained."
    elif settings.class_name == SIGLIP:
        replacements = ((r"[!-/:-@\[-`{-~]", ""), (r"\s+", " "))
        first = [lower] if settings.options.get("do_lower_case", True) else []
        first += [
            {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}
            for pattern, content in replacements
        ]
        first.append({"type": "Strip", "strip_left": True, "strip_right": True})
        case = "in lower case and " if lower in first else ""
        note = f"Texts are read {case}without punctuation, as SigLIP was trained."
    else:
        return []
    former = stored.get("normalizer")
    stored["normalizer"] = {"type": "Sequence", "normalizers": [*first, *([former] if former else [])]}
    return [note]


def _lacks_end_token(
    kind: TokenizerClass,
    names: Mapping[str, AddedToken],
    vocabulary: Vocabulary,
    settings: TokenizerSettings,
) -> bool:
    """True if a special token that the class puts around a text is missing from the vocabulary and the added tokens."""
    missing = {names[key].content for key in kind.end_keys} - settings.listed_names
    pieces = vocabulary.pieces or ()
    missing.difference_update((piece[0] for piece in pieces) if isinstance(pieces, list) else pieces)
    return bool(missing)


def _tokenizer_of_vocabulary(
    folder: Path, settings: TokenizerSettings, class_name: str | None, is_named: bool
) -> tuple[Tokenizer, list[str]]:
    """The tokenizer of a folder without a tokenizer.json, built from the vocabulary in its other files, and notes about it.

    `is_named` says whether a file names the class. Raises ValueError if the class cannot read the vocabulary.
    """
    kind = CLASSES.get(class_name or "")
    if class_name == BYT5:
        vocabulary = byte_vocabulary()
    else:
        vocabulary = vocabulary_of_files(folder, kind.model if kind else None)
    notes: list[str] = []
    if kind is None or kind.model != vocabulary.model:
        if is_named:
            raise ValueError(
                f"{vocabulary.file} is read as {classes_of(vocabulary.model)} read it, and not as {class_name}: save {TOKENIZER} as well"
            )
        if vocabulary.model == "Unigram":
            raise ValueError(
                f"{vocabulary.file} alone is not enough for this encoder: save {TOKENIZER} as well"
            )
        ends_words = vocabulary.model == "BPE" and any(
            piece.endswith(END_OF_WORD) for piece in vocabulary.pieces
        )
        by_layout = {
            "WordPiece": "BertTokenizer",
            "BPE": "CLIPTokenizer" if ends_words else "RobertaTokenizer",
        }
        class_name = by_layout[vocabulary.model]
        kind = CLASSES[class_name]
        notes.append(
            f"No file names the class of the tokenizer: {vocabulary.file} is read as {class_name} reads it."
        )
    if vocabulary.charsmap and "Precompiled" not in _component_types(
        kind.components(settings.options, vocabulary.charsmap)[0]
    ):
        notes.append(
            f"As in transformers 5, {class_name} leaves out the map of characters in {vocabulary.file}: full-width letters, "
            "ligatures and the like stay as they are."
        )
    return tokenizer_of_class(kind, vocabulary, settings), notes
