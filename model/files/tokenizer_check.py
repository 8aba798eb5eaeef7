"""Checks a `tokenizer.json` before it is opened: only tokenizers whose work grows linearly with the text are accepted.

The `tokenizers` library runs whatever such a file describes, without a limit of time or memory: seventeen normalizers that
each double a text turn one character into 131,072, and a regular expression can backtrack for years. Therefore only components
of trained tokenizers are allowed, a few of each kind, which lengthen a text by a bounded factor (`model.inputs.text.encode`
then refuses texts that became too long). Regular expressions must be those of known tokenizers, or unable to backtrack
(`SIMPLE`).
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tokenizers import Tokenizer

MOST_COMPONENTS = 16  # of one kind; that of ALBERT has eight normalizers
LONGEST_NAME = 256  # characters of a token that is added to texts, such as [UNK]
LONGEST_PIECE = 1000
LONGEST_UNIGRAM = 256  # bytes of a piece; at each position of a text pieces of every length are tried
# Bytes of all pieces together. Each byte becomes at most one node of a tree, of 350 bytes; XLM-R has some 2 million.
MOST_OF_UNIGRAMS = 2**22
MOST_ADDED = 10_000
MOST_OF_ADDED = 2**18  # characters
LONGEST_WORD = 200  # characters; the time of WordPiece grows with its third power; BERT has 100
LONGEST_PATTERN = 500

# A regular expression is simple if in each alternative only the last character can repeat: then it never backtracks far.
# Up to three characters before that one may be optional.
_CLASS = r"\[\^?(?:[^\[\]\\&]|\\[pP]\{\^?\w{1,30}\}|\\[sSdDwWhHnrt]|\\[^\w\s])+\]"
_SIGN = rf"(?:[^\\\[\](){{}}*+?|^$]|\\[pP]\{{\^?\w{{1,30}}\}}|\\[sSdDwWhHnrtbB]|\\[^\w\s]|{_CLASS})"
_ALTERNATIVE = rf"{_SIGN}*(?:{_SIGN}\??){{0,3}}{_SIGN}(?:[?*+]|\{{\d{{1,2}}(?:,\d{{0,2}})?\}})?"
SIMPLE = re.compile(rf"{_ALTERNATIVE}(?:\|{_ALTERNATIVE})*", re.DOTALL)
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LETTERS, _CAPITALS, _SMALL = (
    r"[^\r\n\p{L}\p{N}]?",
    r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}",
    r"\p{Ll}\p{Lm}\p{Lo}\p{M}",
)
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
KNOWN = frozenset(
    {
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # GPT-2
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",  # the same, by tiktoken
        rf"{_ENDINGS}|{_LETTERS}\p{{L}}+|\p{{N}}{{1,3}}|{_REST}",  # Llama 3, EuroBERT
        rf"{_ENDINGS}|{_LETTERS}\p{{L}}+|\p{{N}}|{_REST}",  # Qwen
        rf"{_LETTERS}[{_CAPITALS}]*[{_SMALL}]+{_ENDINGS}?|{_LETTERS}[{_CAPITALS}]+[{_SMALL}]*{_ENDINGS}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",  # GPT-4o
        # this project's own (`model.inputs.text`)
        r"\b(?:can't|won't|ain't)\b|(?<=\w)(?:n't|'s|'m|'d|'re|'ve|'ll)\b|[!-/:-@\[-`{-~]|\p{P}",
    }
)


def open_tokenizer(values: dict[str, Any]) -> Tokenizer:
    """The tokenizer that the content of a `tokenizer.json` describes, without its padding, truncation and BPE dropout.

    Raises ValueError, with a one-sentence message, if `check_tokenizer` refuses the content, and any error of the library if it is
    damaged.
    """
    check_tokenizer(values)
    # The library reads what was checked, not the file: of a key that occurs twice there it could take the other value.
    tokenizer = Tokenizer.from_str(json.dumps(values | {"padding": None, "truncation": None}))
    if getattr(tokenizer.model, "dropout", None):
        tokenizer.model.dropout = None
    return tokenizer


def check_tokenizer(values: dict[str, Any]) -> None:
    """Raises ValueError, with a one-sentence message, if the content of a `tokenizer.json` could ask for unbounded work."""
    for kind_of_part, (plural, allowed, max_growth) in _KINDS.items():
        growth = 1.0
        for component in _components(values.get(kind_of_part), plural):
            name = component.get("type")
            if not isinstance(name, str) or name not in allowed:
                raise ValueError(
                    f"its {kind_of_part.replace('_', '-')} {_shortened_repr(name)} is not supported"
                )
            factor = allowed[name]
            growth *= factor(component) if callable(factor) else factor
        if growth > max_growth:
            raise ValueError(
                f"its {kind_of_part.replace('_', '-')} can make a text {growth:,.0f} times as long, and at most {max_growth:,} times is allowed"
            )
    _check_model(values.get("model"))
    tokens = values.get("added_tokens")
    tokens = tokens if isinstance(tokens, list) else []
    check_added_tokens([token.get("content") for token in tokens if isinstance(token, dict)])


def _components(component: Any, plural: str) -> Iterator[dict[str, Any]]:
    """All components of one kind, such as normalizers: `component` itself, or all those that it holds if it is a sequence."""
    pending = [component] if component is not None else []
    for _ in range(MOST_COMPONENTS):
        if not pending:
            return
        component = pending.pop()
        if not isinstance(component, dict):
            raise ValueError(f"one of its {plural} is not an object")
        if component.get("type") != "Sequence":
            yield component
        elif isinstance(inner_components := component.get(plural), list):
            pending += inner_components
        else:
            raise ValueError(f"a sequence has no {plural}")
    if pending:
        raise ValueError(f"it has more than {MOST_COMPONENTS} {plural}")


# Of each component: by what factor it can lengthen a text, in bytes


def _replace_growth(component: dict[str, Any]) -> float:
    """Factor by which replacing a pattern can lengthen a text. Raises ValueError if the pattern could backtrack far."""
    pattern, content = component.get("pattern"), component.get("content")
    if not isinstance(pattern, dict) or not isinstance(content, str):
        raise ValueError("a Replace has no pattern or no content")
    if isinstance(text := pattern.get("String"), str) and text:
        return max(1.0, len(content.encode()) / len(text.encode()))
    _check_pattern(pattern)
    may_be_empty = re.search(r"[?*]|\{0", pattern["Regex"]) is not None
    return float(max(1, len(content.encode()) + may_be_empty))


def _split_growth(component: dict[str, Any]) -> float:
    """Factor by which a split lengthens a text: 1. Raises ValueError if its regular expression could backtrack far."""
    pattern = component.get("pattern")
    if not isinstance(pattern, dict) or not isinstance(pattern.get("String"), str):
        _check_pattern(pattern)
    return 1.0


def _fixed_length_growth(component: dict[str, Any]) -> float:
    """Factor by which cutting into equal lengths lengthens a text: 1. Raises ValueError unless the length is 1 or more."""
    length = component.get("length")
    if type(length) is not int or length < 1:
        raise ValueError(f"it cuts texts into lengths of {_shortened_repr(length)}")
    return 1.0


def _check_pattern(pattern: Any) -> None:
    """Raises ValueError if a regular expression could backtrack far and is not that of a known tokenizer."""
    expression = pattern.get("Regex") if isinstance(pattern, dict) else None
    if not isinstance(expression, str):
        raise ValueError("one of its patterns is empty")
    is_simple = len(expression) <= LONGEST_PATTERN and SIMPLE.fullmatch(expression)
    if expression not in KNOWN and not is_simple:
        raise ValueError(
            f"its pattern {_shortened_repr(expression)} could take for ever, and is not that of a known tokenizer"
        )


def _prepend_growth(component: dict[str, Any]) -> float:
    """Factor by which adding a prefix lengthens a text: 1, since it is added once per text."""
    _check_name(component.get("prepend"), "what it puts before a text")
    return 1.0


def _charsmap_growth(component: dict[str, Any]) -> float:
    """Factor by which SentencePiece's character map can lengthen a text: the bytes of its longest replacement.

    The map holds the length of a tree, the tree, and the replacements, each ended by a zero byte.
    """
    try:
        content = base64.b64decode(component.get("precompiled_charsmap") or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ValueError("its precompiled_charsmap is damaged") from None
    length = int.from_bytes(content[:4], "little")
    if len(content) < 8 or length % 4 or 4 + length > len(content):
        raise ValueError("its precompiled_charsmap is damaged")
    return float(max(1, *map(len, content[4 + length :].split(b"\0"))))


def _template_growth(component: dict[str, Any]) -> float:
    """Factor by which a template lengthens a text: 1. Raises ValueError if the template repeats a text."""
    for key, allowed_texts in (("single", ["A"]), ("pair", ["A", "B"])):
        pieces = component.get(key)
        pieces = pieces if isinstance(pieces, list) else []
        texts = [
            piece["Sequence"].get("id")
            for piece in pieces
            if isinstance(piece, dict) and isinstance(piece.get("Sequence"), dict)
        ]
        if len(pieces) > LONGEST_NAME or len(set(texts)) < len(texts) or not set(texts) <= set(allowed_texts):
            raise ValueError(f"its template for a {key} text holds a text twice, or one that does not exist")
    tokens = component.get("special_tokens")
    for token in tokens.values() if isinstance(tokens, dict) else []:
        ids, names = (token.get(key) if isinstance(token, dict) else None for key in ("ids", "tokens"))
        if not isinstance(ids, list) or not isinstance(names, list) or len(ids) != len(names):
            raise ValueError("a token of its template has not as many names as ids")
        for name in names:
            _check_name(name, "a token of its template")
    return 1.0


def _end_tokens_growth(component: dict[str, Any]) -> float:
    """Factor by which two added end tokens lengthen a text: 1. Raises ValueError if their names are too long."""
    for key in ("sep", "cls"):
        _check_name(next(iter(component.get(key) or [None]), None), f"its token {key}")
    return 1.0


# By the names of the components: the factor by which each can lengthen a text, in bytes. For Unicode's normal forms see
# unicode.org/faq/normalization; the characters by which ByteLevel writes a byte take two.
_Growth = float | Callable[[dict[str, Any]], float]
_NORMALIZERS: dict[str, _Growth] = {
    "BertNormalizer": 3, "ByteLevel": 2, "Lowercase": 1.5, "NFC": 3, "NFD": 3, "NFKC": 11, "NFKD": 11, "Nmt": 1,
    "Precompiled": _charsmap_growth, "Prepend": _prepend_growth, "Replace": _replace_growth, "Strip": 1, "StripAccents": 1,
}  # fmt: skip
_PRE_TOKENIZERS: dict[str, _Growth] = {
    "BertPreTokenizer": 1, "ByteLevel": 4, "CharDelimiterSplit": 1, "Digits": 1, "FixedLength": _fixed_length_growth, "Metaspace": 4, "Punctuation": 1,
    "Split": _split_growth, "UnicodeScripts": 1, "Whitespace": 1, "WhitespaceSplit": 1,
}  # fmt: skip
_POST_PROCESSORS: dict[str, _Growth] = {
    "BertProcessing": _end_tokens_growth, "ByteLevel": 1, "RobertaProcessing": _end_tokens_growth, "TemplateProcessing": _template_growth,
}  # fmt: skip
_DECODERS: dict[str, _Growth] = {
    "BPEDecoder": 1, "ByteFallback": 1, "ByteLevel": 1, "CTC": 1, "Fuse": 1, "Metaspace": 1, "Replace": _replace_growth,
    "Strip": 1, "WordPiece": 1,
}  # fmt: skip
_KINDS: dict[str, tuple[str, dict[str, _Growth], int]] = {
    "normalizer": ("normalizers", _NORMALIZERS, 1000),  # 545 for ALBERT
    "pre_tokenizer": ("pretokenizers", _PRE_TOKENIZERS, 16),
    "post_processor": ("processors", _POST_PROCESSORS, 1),
    "decoder": ("decoders", _DECODERS, 1000),
}


def _check_model(model: Any) -> None:
    if not isinstance(model, dict):
        raise ValueError("it has no model")
    for key, value in model.items():
        if isinstance(value, str):
            _check_name(value, key)
    max_length = model.get("max_input_chars_per_word")
    if max_length is not None and not (isinstance(max_length, int) and 0 <= max_length <= LONGEST_WORD):
        raise ValueError(
            f"it splits words of up to {_shortened_repr(max_length)} characters; at most {LONGEST_WORD} are allowed"
        )
    pieces = model.get("vocab")
    if isinstance(pieces, list):  # Unigram: pairs of a piece and its score
        lengths = [
            len(piece[0].encode())
            for piece in pieces
            if isinstance(piece, list | tuple) and piece and isinstance(piece[0], str)
        ]
        if max(lengths, default=0) > LONGEST_UNIGRAM or sum(lengths) > MOST_OF_UNIGRAMS:
            raise ValueError(
                f"its pieces have more than {MOST_OF_UNIGRAMS:,} bytes together, or one more than {LONGEST_UNIGRAM}"
            )
    elif isinstance(pieces, dict) and max(map(len, pieces), default=0) > LONGEST_PIECE:
        raise ValueError(f"one of its pieces has more than {LONGEST_PIECE:,} characters")


def check_added_tokens(names: Sequence[Any]) -> None:
    """Raises ValueError if tokens of these names are too many to be looked for in each text, or too long."""
    length = sum(len(name) for name in names if isinstance(name, str))
    if len(names) > MOST_ADDED or length > MOST_OF_ADDED:
        raise ValueError(
            f"it adds {len(names):,} tokens of {length:,} characters to its vocabulary, which is too many"
        )


def _check_name(name: Any, subject: str) -> None:
    """Raises ValueError, with a sentence about the `subject`, unless `name` is a text of at most `LONGEST_NAME` characters."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise ValueError(f"{subject} must be a text of at most {LONGEST_NAME} characters")


def _shortened_repr(value: object) -> str:
    value_text = repr(value)
    return value_text if len(value_text) <= 60 else f"{value_text[:57]}..."
