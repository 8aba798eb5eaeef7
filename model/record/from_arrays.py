"""Makes records from attention weights of other programs (`from_arrays`), and from other maps of a record (`record_with_map`)."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from math import isqrt
from typing import Any, get_args

import numpy as np
from jaxtyping import Bool, Float

from . import AttentionRecord, Positions, Role
from .pieces import Spelling, infer_spelling, shown

MOST_POSITIONS, MOST_HEADS = 2048, 4096
LONGEST_LABEL = 1000  # characters
ROUNDING = 1e-2  # of a weight: half precision, added up over many keys
# By how the tokenizers of known families spell them; what a file says itself comes first.
_SPELLED: dict[str, Role] = {
    **dict.fromkeys(("[CLS]", "<s>", "<cls>"), "class"),
    **dict.fromkeys(("[SEP]", "</s>", "<sep>", "<eos>"), "separator"),
    **dict.fromkeys(("[PAD]", "<pad>"), "padding"),
    **dict.fromkeys(("[UNK]", "<unk>"), "unknown"),
    **dict.fromkeys(("[MASK]", "<mask>"), "mask"),
}
_CONTINUES = "##"  # begins pieces that go on, where no mark tells words apart
_SPECIAL = re.compile(r"<[|｜].+[|｜]>|<bos>|<extra_id_\d+>")  # <|startoftext|>, <|im_end|>
EAGER = 'load it with attn_implementation="eager", which alone returns its weights, and call it with output_attentions=True'
LEAST = 1e-30  # smallest divisor


def from_arrays(
    pattern: Any,
    tokens: Sequence[str] | None = None,
    *,
    keys: Sequence[str] | None = None,
    roles: Sequence[str] | None = None,
    key_roles: Sequence[str] | None = None,
    mask: Any = None,
    patch_grid: tuple[int, int] | None = None,
    picture: np.ndarray | None = None,
    continuing_prefix: str | None = None,
    key_prefix: str | None = None,
    pieces: Sequence[str] | None = None,
    key_pieces: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    merged: bool = False,
) -> AttentionRecord:
    """A record of `pattern` [layer, head, query, key], over the `tokens` of its queries.

    `pattern` may also be a list with an array [head, query, key] for each layer, with or without a batch axis of length 1
    before it, such as the `attentions` that transformers returns; tensors are accepted, too. `keys` are the tokens of the
    keys, if they are not the queries (cross-attention). For a picture `patch_grid` is (rows, columns); without it, a square
    `picture` has as many rows as columns if these fill all positions, or all but a class token. The patches are the last
    positions, unless `roles` say where they are. `mask`, of the same shape, is True where a query may attend
    to a key, by default everywhere. `roles` (`model.record.Role`) are by default inferred from the spelling of the tokens.
    Tokens that a tokenizer spells in bytes or with marks of spaces are shown as their text; if their `pieces` are given,
    the spellings of the tokenizer, the tokens are left as they are.

    Rows need not sum to 1 (`model.measures.head_measures.odd_rows`). Raises ValueError for shapes and labels that do not
    fit each other, and for weights outside 0 to 1.

    >>> from loupe import from_arrays
    >>> from_arrays([[[[0.5, 0.5], [0.0, 1.0]]]], ["a", "film"])
    AttentionRecord(2 tokens 'a film', 1 layer × 1 head)
    """
    pattern = _checked_pattern(pattern)
    *_, n_queries, n_keys = pattern.shape
    if keys is None:
        _check_axes(pattern.shape, tokens)
    if picture is not None and patch_grid is None and tokens is None:
        patch_grid = _square_grid(n_queries, picture)
    if patch_grid is not None:
        tokens, roles = _patch_labels_and_roles(patch_grid, n_queries, tokens, roles)
    if tokens is None:
        raise ValueError("the labels are missing: tokens, one for each query")
    view_fields = {
        "patch_grid": patch_grid,
        "merged": merged,
        "numbers": None if numbers is None else tuple(numbers),
    }
    queries = _checked_positions("tokens", tokens, roles, n_queries, continuing_prefix, pieces, **view_fields)
    if numbers is not None and (len(numbers) != n_queries or sorted(set(numbers)) != list(numbers)):
        raise ValueError("numbers must ascend, one for each query")
    key_positions = None
    if keys is not None:
        key_positions = _checked_positions("keys", keys, key_roles, n_keys, key_prefix, key_pieces)
    elif n_keys != n_queries:
        raise ValueError(f"there are {n_queries} queries and {n_keys} keys: the labels `keys` are missing")
    return AttentionRecord(
        pattern=pattern, mask=_checked_mask(mask, pattern.shape), keys=key_positions, **positions(queries)
    )


def positions(record: Positions) -> dict[str, Any]:
    """The fields of `Positions` in the record, by name, for the constructor of another record."""
    return {field.name: getattr(record, field.name) for field in fields(Positions)}


def attention_alone(record: AttentionRecord) -> AttentionRecord:
    """A copy of the record with only weights, mask, tokens and roles, which is all that figures of attention need."""
    return AttentionRecord(pattern=record.pattern, mask=record.mask, keys=record.keys, **positions(record))


def check_weights(pattern: np.ndarray) -> None:
    """Raises ValueError unless all numbers are finite and, within rounding, from 0 to 1."""
    if not np.isfinite(pattern).all():
        raise ValueError("pattern holds numbers that are not finite")
    smallest, largest = float(pattern.min()), float(pattern.max())
    if smallest < 0 or largest > 1 + ROUNDING:
        raise ValueError(
            f"pattern holds {smallest if smallest < 0 else largest:.4g}: weights are from 0 to 1"
        )


def check_picture(picture: np.ndarray) -> None:
    """Raises ValueError unless `picture` is a uint8 array [height, width] or [height, width, 3]."""
    has_colours = picture.ndim == 3 and picture.shape[2] == 3
    if picture.dtype != np.uint8 or not picture.size or not (picture.ndim == 2 or has_colours):
        raise ValueError(
            f"a picture must be uint8 of [height, width] or [height, width, 3], got {picture.dtype} of {picture.shape}"
        )


def _checked_pattern(values: Any) -> np.ndarray:
    if values is None or (isinstance(values, list | tuple) and any(layer is None for layer in values)):
        raise ValueError(f"pattern is None: the model returned no attention weights; {EAGER}")
    if isinstance(values, list | tuple):
        layers = [_to_array(layer) for layer in values]
        if layers and layers[0].ndim == 4 and len(layers[0]) > 1:
            raise ValueError(_several_inputs_message(len(layers[0])))
        layers = [layer[0] if layer.ndim == 4 else layer for layer in layers]
        if not layers or len({layer.shape for layer in layers}) > 1 or layers[0].ndim != 3:
            raise ValueError(
                "a pattern in layers needs one array [head, query, key] for each layer, all of one shape; "
                f"got {len(layers)} layers of {', '.join(map(str, dict.fromkeys(layer.shape for layer in layers))) or 'nothing'}"
            )
        values = np.stack(layers)
    values = _to_array(values)
    if values.ndim == 5:
        if values.shape[1] != 1:
            raise ValueError(_several_inputs_message(values.shape[1]))
        values = values[:, 0]
    if values.dtype.kind not in "fiub" or values.ndim != 4 or not values.size:
        axes = {
            2: "one head [query, key]: pass pattern[None, None]",
            3: "one layer [head, query, key]: pass [pattern]",
        }
        hint = f", which looks like {axes[values.ndim]}" if values.ndim in axes else ""
        raise ValueError(
            f"pattern must be numbers of [layer, head, query, key], got {values.dtype.name} of {values.shape}{hint}"
        )
    n_layers, n_heads, *sides = values.shape
    if max(sides) > MOST_POSITIONS or n_layers * n_heads > MOST_HEADS:
        raise ValueError(
            f"pattern {values.shape} is too large to be shown: at most {MOST_POSITIONS:,} positions and {MOST_HEADS:,} heads"
        )
    pattern = np.array(values, np.float32)  # a copy: a record is read-only
    check_weights(pattern)
    return pattern


def _several_inputs_message(n: int) -> str:
    return (
        f"pattern holds a batch of {n} inputs; a record is of one: pass [layer[:1] for layer in attentions]"
    )


def _to_array(values: Any) -> np.ndarray:
    """Values as an array; they may be array-like, or a tensor on any device, with gradients, or of bfloat16."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    return np.asarray(values)


def _check_axes(shape: tuple[int, ...], tokens: Sequence[str] | None) -> None:
    """Raises ValueError if exactly two axes are as long as there are tokens, and these are not the last two."""
    n = 0 if tokens is None else len(tokens)
    if shape.count(n) == 2 and shape[2] != shape[3]:
        raise ValueError(
            f"the axes must be [layer, head, query, key]: of {shape}, the last two should be the {n} queries and keys"
        )


def _checked_mask(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    if values is None:
        return np.broadcast_to(np.True_, shape)
    mask = _to_array(values)
    if mask.dtype.kind not in "b" or mask.shape != shape:
        raise ValueError(f"mask must be true or false, of pattern's shape {shape}")
    return np.array(mask)


def _checked_positions(
    name: str,
    tokens: Sequence[str],
    roles: Sequence[str] | None,
    n: int,
    prefix: str | None,
    pieces: Sequence[str] | None,
    **view_fields: Any,
) -> Positions:
    _check_labels(name, tokens, n)
    own_pieces = tokens if pieces is None else pieces
    _check_labels("pieces", own_pieces, n)
    known_roles: dict[str, Role] = {role: role for role in get_args(Role)}
    valid_roles: list[Role] = []
    if roles is not None:
        _check_labels("roles", roles, n)
        if unknown_roles := sorted(set(roles) - set(known_roles)):
            raise ValueError(f"roles must be of {', '.join(known_roles)}; got {unknown_roles[0][:40]!r}")
        valid_roles = [known_roles[role] for role in roles]
    special_roles = {
        piece: role
        for piece, role in zip(own_pieces, valid_roles, strict=False)
        if role not in ("word", "continuation")
    }
    texts, spelled_roles, spelled_prefix = read_spelling(own_pieces, special_roles)
    if pieces is None and texts != list(tokens):
        tokens = list(map(shown, texts))
    if roles is None:
        valid_roles, prefix = spelled_roles, spelled_prefix if prefix is None else prefix
    return Positions(
        tokens=tuple(tokens),
        roles=tuple(valid_roles),
        pieces=tuple(own_pieces),
        continuing_prefix=prefix or "",
        **view_fields,
    )


def _check_labels(name: str, labels: Sequence[str], n: int) -> None:
    if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"{name} must be a list of strings")
    if len(labels) != n:
        raise ValueError(f"there are {len(labels)} {name} for {n} positions of the pattern")
    if max(map(len, labels), default=0) > LONGEST_LABEL:
        raise ValueError(f"{name} hold a text of more than {LONGEST_LABEL:,} characters")


def read_spelling(
    pieces: Sequence[str],
    special_roles: Mapping[str, Role] | None = None,
    spelling: Spelling | None = None,
    added: Collection[str] = (),
) -> tuple[list[str], list[Role], str]:
    """The text of each of the `pieces`, its role, inferred from its spelling, and the prefix of pieces that go on.

    `special_roles` are the roles of pieces that are known to be special; those that tokenizers commonly use are known
    anyway. `spelling` is that of the tokenizer, by default inferred from the pieces, and pieces that are in `added` are not
    spelled in it.
    """
    known_roles: dict[str, Role] = {**_SPELLED, **(special_roles or {})}
    is_special = [piece in known_roles or _SPECIAL.fullmatch(piece) is not None for piece in pieces]
    if spelling is None:
        spelling = infer_spelling(
            [piece for piece, special in zip(pieces, is_special, strict=True) if not special]
        )
    is_added = [piece in added or special for piece, special in zip(pieces, is_special, strict=True)]
    texts = spelling.decode(pieces, is_added)
    prefix = "" if spelling.marks_words else _CONTINUES
    roles: list[Role] = []
    for index, (piece, special) in enumerate(zip(pieces, is_special, strict=True)):
        if prefix:
            goes_on = index > 0 and piece.startswith(_CONTINUES) and piece != _CONTINUES
        else:
            goes_on = roles[-1:] in (["word"], ["continuation"]) and not spelling.separates(
                pieces[index - 1], texts[index - 1], texts[index]
            )
        role: Role = "special" if special else "continuation" if goes_on else "word"
        roles.append(known_roles.get(piece, role))
    return texts, roles, prefix


def _square_grid(n: int, picture: np.ndarray) -> tuple[int, int]:
    """(rows, columns) of a square picture's patches, at all of `n` positions or behind a class token.

    Raises ValueError where neither fits: what else could be a grid would be guessed.
    """
    side = isqrt(n)
    if picture.shape[0] != picture.shape[1] or n - side**2 > 1:
        raise ValueError(
            f"the grid of the patches is missing: patch_grid=(rows, columns), for {n} positions and a picture of {picture.shape[0]} × {picture.shape[1]} pixels"
        )
    return side, side


def _patch_labels_and_roles(
    grid: tuple[int, int], n: int, tokens: Sequence[str] | None, roles: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    """Labels and roles of the positions of a picture; by default the patches follow a class token and special tokens.

    Raises ValueError unless as many positions, one after the other, are patches as the grid has.
    """
    rows, columns = grid
    n_before = n - rows * columns
    if min(grid) < 1 or n_before < 0:
        raise ValueError(f"{n} positions are too few for {rows} × {columns} patches")
    if tokens is None:
        patch_names = [f"r{row}c{column}" for row in range(rows) for column in range(columns)]
        special_tokens = ["[CLS]", *(f"[{index}]" for index in range(1, n_before))]
        tokens = [*special_tokens[:n_before], *patch_names]
    if roles is None:
        roles = [*["class", *["special"] * n_before][:n_before], *["patch"] * (n - n_before)]
    patches = [index for index, role in enumerate(roles) if role == "patch"]
    if len(patches) != rows * columns or patches[-1] - patches[0] != len(patches) - 1:
        raise ValueError(
            f"{rows * columns} positions, one after the other, must be the patches, and no others"
        )
    return tokens, roles


def record_with_map(
    record: AttentionRecord,
    pattern: Float[np.ndarray, "layer head query key"],
    mask: Bool[np.ndarray, "layer head query key"],
) -> AttentionRecord:
    """A record with the positions of `record` and another map, in which masked cells are set to 0."""
    return AttentionRecord(
        pattern=np.where(mask, pattern, 0).astype(np.float32),
        mask=mask,
        keys=record.keys,
        **positions(record),
    )


def any_head_mask(record: AttentionRecord) -> Bool[np.ndarray, "layer 1 query key"]:
    """Mask for a map without heads: True if any head of the layer may attend from the query to the key."""
    return np.any(record.mask, axis=1, keepdims=True)


def normalise_rows(
    rows: Float[np.ndarray, "*axes query key"], least: float = LEAST
) -> Float[np.ndarray, "*axes query key"]:
    """Rows divided by their sums; a row whose sum is below `least` becomes zeros."""
    sums = rows.sum(axis=-1, keepdims=True)
    return np.divide(rows, sums, out=np.zeros_like(rows), where=sums >= least)
