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

import numpy as np
from jaxtyping import Float

from ..record import AttentionRecord, Positions, Role
from .heads import mean_distance, mean_entropy, odd_rows

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


def _looked_at(
    record: AttentionRecord, received: Float[np.ndarray, "layer head key"]
) -> dict[str, Float[np.ndarray, "layer head"]]:
    parts = {}
    if record.keys is None:
        offsets = {"previous": -1, "next": 1, "same": 0} if record.unit == "token" else {"same": 0}
        parts = {name: _on_diagonal(record.pattern, offset) for name, offset in offsets.items()}
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
