"""What a head does on one input, in nine numbers, by the names that pages, files and notes share.

With A the pattern [query, key] of a head, whose rows sum to 1 over the keys that the mask allows:

- `entropy`: mean_i H_i / ln n_i, from 0 to 1 (`heads.entropy`);
- `confidence`: mean of max_j A_ij over the queries that are no special tokens (Voita et al. 2019);
- `distance`: mean_i sum_j A_ij dist(i, j), in tokens or patches (`heads.mean_distance`);
- `previous`, `next`, `same`: sum(A * D) / sum(A), where D is 1 at the key before the query, after it, or at itself, and 0
  elsewhere (the head detector of TransformerLens); patches, which lie in a grid, have no key before or after them;
- `first`: the same with D = 1 at the first token; of patches at the class token before them;
- `separator`: the same with D = 1 at all separators;
- `sink`: max_j mean_i A_ij. Gu et al. 2024 count a sink where this is over 0.3, in causal models, where the key is the first.

What an input does not have is left out, and where rows do not sum to 1 so is all that is defined on such rows.
"""

from dataclasses import fields

import numpy as np
from jaxtyping import Float

from ..record import AttentionRecord, Positions, Role
from .head_measures import mean_distance, mean_entropy, odd_rows

STATISTICS = ("entropy", "confidence", "distance", "previous", "next", "same", "first", "separator", "sink")
NO_WORD: tuple[Role, ...] = ("class", "separator", "padding", "special")


def statistics(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Those of `STATISTICS` that the input has, in that order."""
    pattern = record.pattern
    received = _received(pattern)
    found = _looked_at(record, received)
    if not len(odd_rows(pattern, record.mask)):
        found["entropy"] = mean_entropy(pattern, record.mask)
        if words := [at for at, role in enumerate(record.roles) if role not in NO_WORD]:
            found["confidence"] = pattern.max(axis=-1)[..., words].mean(axis=-1)
        if record.keys is None:
            found["distance"] = mean_distance(pattern, record.patch_grid)
        found["sink"] = received.max(axis=-1) / pattern.shape[-2]
    return {name: found[name] for name in STATISTICS if name in found}


def looked_at(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Of `statistics` those that are a share of the weight, from 0 to 1; of a head without any weight 0."""
    return _looked_at(record, _received(record.pattern))


def of_one_head(record: AttentionRecord, layer: int, head: int) -> AttentionRecord:
    """The same with that head alone, as layer 0 and head 0."""
    one = np.s_[layer : layer + 1, head : head + 1]
    return _with_weights(record, record.pattern[one], record.mask[one])


def by_chance(record: AttentionRecord) -> dict[str, Float[np.ndarray, "#layer #head"]]:
    """What `statistics` would be if every query gave the same weight to each key that its mask allows.

    One layer and head stand for all where all have one mask.
    """
    mask = record.mask
    if (mask == mask[:1, :1]).all():
        mask = mask[:1, :1]
    pattern = mask / np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    return statistics(_with_weights(record, pattern.astype(np.float32), mask))


def elsewhere(record: AttentionRecord) -> Float[np.ndarray, "layer head"]:
    """The share of the weight that is in none of `looked_at`, whose shares may overlap; of a head without any weight 0."""
    counted = np.zeros(record.pattern.shape[-2:], bool)
    for offset in _offsets(record).values():
        counted |= np.eye(*counted.shape, k=offset, dtype=bool)
    if (first := first_token(record.attended)) is not None:
        counted[:, first] = True
    counted[:, record.attended.at("separator")] = True
    whole = record.pattern.sum(axis=(-2, -1))
    rest = record.pattern[..., ~counted].sum(axis=-1)
    return np.asarray(rest / np.where(whole > 0, whole, 1))


def _with_weights(record: AttentionRecord, pattern: np.ndarray, mask: np.ndarray) -> AttentionRecord:
    parts = {field.name: getattr(record, field.name) for field in fields(AttentionRecord)}
    return AttentionRecord(**parts | {"pattern": pattern, "mask": mask})


def _offsets(record: AttentionRecord) -> dict[str, int]:
    """How many positions after the query these keys stand."""
    if record.keys is not None:
        return {}
    return {"previous": -1, "next": 1, "same": 0} if record.unit == "token" else {"same": 0}


def _looked_at(
    record: AttentionRecord, received: Float[np.ndarray, "layer head key"]
) -> dict[str, Float[np.ndarray, "layer head"]]:
    parts = {name: _on_diagonal(record.pattern, offset) for name, offset in _offsets(record).items()}
    if (first := first_token(record.attended)) is not None:
        parts["first"] = received[..., first]
    if separators := record.attended.at("separator"):
        parts["separator"] = received[..., separators].sum(axis=-1)
    whole = received.sum(axis=-1)
    return {name: part / np.where(whole > 0, whole, 1) for name, part in parts.items()}


def first_token(keys: Positions) -> int | None:
    """The position that `first` is about; None where there is none."""
    return 0 if keys.unit == "token" or keys.roles[:1] == ("class",) else None


def _received(pattern: Float[np.ndarray, "*axes query key"]) -> Float[np.ndarray, "*axes key"]:
    return np.asarray(pattern.sum(axis=-2))


def _on_diagonal(pattern: Float[np.ndarray, "*axes query key"], offset: int) -> Float[np.ndarray, "*axes"]:
    """sum_i A_{i, i + offset}"""
    return np.asarray(np.diagonal(pattern, offset, axis1=-2, axis2=-1).sum(axis=-1))
