"""The positions of an input of a `transformers` model object, with their tokens and roles, for a record.

Tokens of a text are those of the tokenizer object. A grid of patches is taken from the model's configuration and the size of the
picture; which positions are patches is measured: those whose embeddings change when pixels of some patches change. Audio frames,
time steps, latents and input embeddings have no grid; they are numbered from 0.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn

from ..inputs.text import CLASS, continues_word, continuing_prefix, spelling_of
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
# How the parameter of a class token is called in the models of transformers.
_CLASS_TOKENS = ("cls_token", "class_token", "class_embedding", "cls_embedding")
# a position counts as changed if its embedding changes by more than this share of the largest change; less is rounding
_CHANGED_SHARE = 1e-3


def token_positions(tokenizer: Any, ids: Sequence[int], encoding: Encoding | None) -> Positions:
    """Positions for the token `ids` of a text: tokens as they are shown, pieces as the `tokenizer` spells them, and
    roles.

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
    backend = _underlying_tokenizer(tokenizer)
    spelling = _spelling(tokenizer)
    texts, _, prefix = read_spelling(pieces, special_roles, spelling, added)
    _, roles, _ = read_spelling(names, special_roles, spelling, added)
    if backend is not None:
        prefix = continuing_prefix(backend)
    if backend is not None and encoding is not None:
        continues = continues_word(backend, encoding, spelling_of(backend))
        word_roles: list[Role] = ["continuation" if goes_on else "word" for goes_on in continues]
        roles = [
            word_role if role in ("word", "continuation") else role
            for role, word_role in zip(roles, word_roles, strict=True)
        ]
    return Positions(
        tokens=tuple(map(shown, texts)),
        roles=tuple(roles),
        pieces=tuple(pieces),
        continuing_prefix=prefix,
    )


def tokenizer_encoding(tokenizer: Any, model_input: Any, ids: Sequence[int]) -> Encoding | None:
    """The tokenizer's `Encoding` of the input, which holds its words, if that has the same `ids`; else None.

    If the input is given as ids alone, they are decoded to a text first.
    """
    backend = _underlying_tokenizer(tokenizer)
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


def _underlying_tokenizer(tokenizer: Any) -> Tokenizer | None:
    """The `tokenizers.Tokenizer` inside a tokenizer of transformers; None if that is written in Python and has none."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    return backend if isinstance(backend, Tokenizer) else None


def _spelling(tokenizer: Any) -> Spelling | None:
    """How the tokenizer spells text in its pieces; None where only the pieces can tell."""
    backend = _underlying_tokenizer(tokenizer)
    if backend is not None:
        return spelling_of(backend)
    pieces, letter = _BYTES_OF_A_LETTER
    has_text = hasattr(tokenizer, "convert_tokens_to_string")
    byte_level = has_text and tokenizer.convert_tokens_to_string(pieces) == letter
    return Spelling(byte_level=True) if byte_level else None


def numbered_positions(n: int) -> Positions:
    """`n` positions whose tokens are the numbers from 0."""
    roles: list[Role] = ["word"] * n
    return Positions(tokens=tuple(map(str, range(n))), roles=tuple(roles))


def picture_positions(
    part: nn.Module,
    arguments: Mapping[str, Any],
    first_states: Callable[[Mapping[str, Any]], Tensor],
    n: int,
    states: Any,
) -> Positions:
    """The `n` positions of a picture: patches on a grid with the positions before and after them, or else numbers (`numbered_positions`).

    `states` are the hidden states that the model returned for `arguments`, and `first_states` returns the first of them,
    [1, position, d_model], for other arguments.
    """
    pixels, size = arguments.get("pixel_values"), _patch_size(getattr(part, "config", None))
    if not isinstance(pixels, Tensor) or pixels.ndim != 4 or size is None:
        return numbered_positions(n)
    rows, columns = (side // patch for side, patch in zip(pixels.shape[-2:], size, strict=True))
    if not 0 < rows * columns <= n or not states or tuple(states[0].shape[:2]) != (1, n):
        return numbered_positions(n)
    corners = sorted({(0, 0), (0, columns - 1), (rows - 1, columns - 1)})
    changed = pixels.clone()
    for row, column in corners:
        patch = changed[..., row * size[0] : (row + 1) * size[0], column * size[1] : (column + 1) * size[1]]
        patch += 1 + torch.arange(patch.numel(), device=patch.device).sin().reshape(patch.shape).to(
            patch.dtype
        )
    embedding_changes = (
        (first_states({**arguments, "pixel_values": changed}) - states[0]).float().abs().amax(dim=-1)[0]
    )
    changed_positions = (
        torch.nonzero(embedding_changes > _CHANGED_SHARE * embedding_changes.max()).flatten().tolist()
    )
    if not changed_positions or changed_positions != [
        changed_positions[0] + row * columns + column for row, column in corners
    ]:
        return numbered_positions(n)  # not row by row, or not one position a patch
    n_after = n - changed_positions[0] - rows * columns
    if n_after < 0:
        return numbered_positions(n)
    before, after_patches = (
        _roles_before_patches(part, changed_positions[0]),
        _roles_after_patches(part, n_after),
    )
    patches: list[tuple[str, Role]] = [
        (f"r{row}c{column}", "patch") for row in range(rows) for column in range(columns)
    ]
    tokens, roles = zip(*before, *patches, *after_patches, strict=True)
    return Positions(tokens=tokens, roles=roles, patch_grid=(rows, columns))


def _patch_size(config: Any) -> tuple[int, int] | None:
    """(height, width) of a patch in pixels, of a configuration that gives it as one number or as two; else None."""
    size = getattr(config, "patch_size", None)
    sides = (size, size) if isinstance(size, int) else tuple(size) if isinstance(size, list | tuple) else ()
    return sides if len(sides) == 2 and all(type(side) is int and side > 0 for side in sides) else None


def _roles_before_patches(part: nn.Module, n: int) -> list[tuple[str, Role]]:
    """Name and role of each of the `n` positions before the first patch."""
    n_registers = getattr(getattr(part, "config", None), "num_register_tokens", None) or 0
    parameter_names = {name.rpartition(".")[2] for name, _ in part.named_parameters()}
    named_positions: list[tuple[str, Role]] = (
        [(CLASS, "class")] if parameter_names.intersection(_CLASS_TOKENS) else []
    )
    if "distillation_token" in parameter_names:
        named_positions.append(("[DIST]", "special"))
    registers: list[tuple[str, Role]] = [
        (f"[register {index + 1}]", "register") for index in range(n_registers)
    ]
    if len(named_positions) + n_registers == n:
        return named_positions + registers
    named_positions = named_positions[: min(n, 1)]  # what else is there has no name
    return named_positions + [(f"[{index}]", "special") for index in range(len(named_positions), n)]


def _roles_after_patches(part: nn.Module, n: int) -> list[tuple[str, Role]]:
    """Name and role of each of the `n` positions after the last patch."""
    n_detection = getattr(getattr(part, "config", None), "num_detection_tokens", None)
    name = "detection" if n_detection == n else "after"
    return [(f"[{name} {index + 1}]", "special") for index in range(n)]
