"""The tokens of a text that a tokenizer object of Hugging Face has read, as a record shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Encoding, Tokenizer

from ..inputs.text import continues_word, continuing_prefix, spelling_of
from ..record import Positions, Role
from ..record.from_arrays import read_spelling
from ..record.pieces import Spelling, shown

# Attributes of a tokenizer, and what the token is for. Where one token has two uses, the later line counts.
_SPECIAL_TOKENS: tuple[tuple[str, Role], ...] = (
    ("eos_token", "separator"),
    ("sep_token", "separator"),
    ("bos_token", "special"),
    ("cls_token", "class"),
    ("pad_token", "padding"),
    ("unk_token", "unknown"),
    ("mask_token", "mask"),
)
_BYTES_OF_A_LETTER = ["Ð", "¶"], "ж"  # as byte-level tokenizers write the letter


def token_positions(tokenizer: Any, ids: Sequence[int], encoding: Encoding | None) -> Positions:
    """The tokens with the given `ids` as they are shown, the pieces of the `tokenizer`, and their roles.

    Words are those of the `encoding`, which also has the text of an unknown piece; without one they are read from the
    spelling of the pieces.
    """
    names = [str(name) for name in tokenizer.convert_ids_to_tokens(ids)]
    pieces = names if encoding is None else encoding.tokens
    added = tokenizer.get_added_vocab() if hasattr(tokenizer, "get_added_vocab") else ()
    special_roles: dict[str, Role] = dict.fromkeys(getattr(tokenizer, "all_special_tokens", ()), "special")
    special_roles |= {
        str(token): role
        for name, role in _SPECIAL_TOKENS
        if (token := getattr(tokenizer, name, None)) is not None
    }
    backend = _backend(tokenizer)
    spelling = _spelling(tokenizer)
    texts, _, prefix = read_spelling(pieces, special_roles, spelling, added)
    _, roles, _ = read_spelling(names, special_roles, spelling, added)
    if backend is not None:
        prefix = continuing_prefix(backend)
    if backend is not None and encoding is not None:
        continues = continues_word(backend, encoding, spelling_of(backend))
        by_number: list[Role] = ["continuation" if goes_on else "word" for goes_on in continues]
        roles = [
            number_role if role in ("word", "continuation") else role
            for role, number_role in zip(roles, by_number, strict=True)
        ]
    return Positions(
        tokens=tuple(map(shown, texts)),
        roles=tuple(roles),
        pieces=tuple(pieces),
        continuing_prefix=prefix,
    )


def tokenizer_encoding(tokenizer: Any, model_input: Any, ids: Sequence[int]) -> Encoding | None:
    """What the tokenizer says of the words of an input that it read as `ids`; None if it says nothing of them.

    Of ids alone it is what it says of the text that they stand for, if that is read as the same ids.
    """
    backend = _backend(tokenizer)
    if backend is None:
        return None
    if isinstance(model_input, Mapping):
        encodings = getattr(model_input, "encodings", None) or [
            backend.encode(backend.decode(list(ids), skip_special_tokens=False), add_special_tokens=False)
        ]
    else:
        texts = (model_input,) if isinstance(model_input, str) else model_input
        encodings = getattr(tokenizer(*texts), "encodings", None)
    return encodings[0] if encodings and encodings[0].ids == list(ids) else None


def _backend(tokenizer: Any) -> Tokenizer | None:
    """The tokenizer of the library `tokenizers` in one of transformers; None where that is written in Python."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend if isinstance(backend, Tokenizer) else None


def _spelling(tokenizer: Any) -> Spelling | None:
    """How the tokenizer spells text in its pieces; None where only the pieces can tell."""
    backend = _backend(tokenizer)
    if backend is not None:
        return spelling_of(backend)
    pieces, letter = _BYTES_OF_A_LETTER
    has_text = hasattr(tokenizer, "convert_tokens_to_string")
    byte_level = has_text and tokenizer.convert_tokens_to_string(pieces) == letter
    return Spelling(byte_level=True) if byte_level else None
