"""Nine statistics of each head on one input, by the names used on pages and in stored files.

A is the pattern [query, key] of a head, whose rows sum to 1 over the keys that the mask allows.

- `entropy`: mean_i H_i / ln n_i, from 0 to 1 (`head_measures.entropy`);
- `confidence`: mean of max_j A_ij over the queries that are no special tokens (Voita et al. 2019);
- `distance`: mean_i sum_j A_ij dist(i, j), in tokens or patches (`head_measures.mean_distance`);
- `previous`, `next`, `same`: sum(A * D) / sum(A), where D is 1 at the key before the query, after it, or at itself, and
  0 elsewhere (the head detector of TransformerLens); patches, which lie in a grid, have no key before or after them;
- `first`: the same with D = 1 at the first token; for patches at the class token before them;
- `separator`: the same with D = 1 at all separators;
- `sink`: max_j mean_i A_ij. Gu et al. 2024 count a sink above 0.3, in causal models, where the key is the first.

Statistics that are undefined for an input are left out, and so are `entropy`, `confidence`, `distance` and `sink` if rows
do not sum to 1.
"""

from dataclasses import fields

import numpy as np
from jaxtyping import Float

from ..record import AttentionRecord, Positions, Role
from .head_measures import mean_distance, mean_entropy, odd_rows

STATISTICS = ("entropy", "confidence", "distance", "previous", "next", "same", "first", "separator", "sink")
NOT_WORDS: tuple[Role, ...] = ("class", "register", "separator", "padding", "special")


def statistics(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Statistics of every head by name, in the order of `STATISTICS`; those undefined for the input are missing."""
    pattern = record.pattern
    received = _received_weights(pattern)
    values_by_name = _attention_shares(record, received)
    if not len(odd_rows(pattern, record.mask)):
        values_by_name["entropy"] = mean_entropy(pattern, record.mask)
        if word_positions := [
            position for position, role in enumerate(record.roles) if role not in NOT_WORDS
        ]:
            values_by_name["confidence"] = pattern.max(axis=-1)[..., word_positions].mean(axis=-1)
        if record.keys is None:
            values_by_name["distance"] = mean_distance(pattern, record.patch_grid, record.first_patch)
        values_by_name["sink"] = received.max(axis=-1) / pattern.shape[-2]
    return {name: values_by_name[name] for name in STATISTICS if name in values_by_name}


def attention_shares(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Shares of each head's total weight, from 0 to 1, by name (`previous`, `first`, …); 0 for a head without any weight."""
    return _attention_shares(record, _received_weights(record.pattern))


def single_head_record(record: AttentionRecord, layer: int, head: int) -> AttentionRecord:
    """A record of one head alone, which becomes layer 0, head 0."""
    head_slice = np.s_[layer : layer + 1, head : head + 1]
    return _replace_weights(record, record.pattern[head_slice], record.mask[head_slice])


def statistics_of_even_weights(record: AttentionRecord) -> dict[str, Float[np.ndarray, "#layer #head"]]:
    """The `statistics` of heads whose queries give equal weight to every allowed key: the chance level for roles.

    If all heads have the same mask, the arrays have one layer and one head.
    """
    mask = record.mask
    if (mask == mask[:1, :1]).all():
        mask = mask[:1, :1]
    pattern = mask / np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    return statistics(_replace_weights(record, pattern.astype(np.float32), mask))


def _replace_weights(record: AttentionRecord, pattern: np.ndarray, mask: np.ndarray) -> AttentionRecord:
    fields_of_record = {field.name: getattr(record, field.name) for field in fields(AttentionRecord)}
    return AttentionRecord(**fields_of_record | {"pattern": pattern, "mask": mask})


def _offsets(record: AttentionRecord) -> dict[str, int]:
    """Offset of the key from the query, by the name of the statistic."""
    if record.keys is not None:
        return {}
    return {"previous": -1, "next": 1, "same": 0} if record.unit == "token" else {"same": 0}


def _attention_shares(
    record: AttentionRecord, received: Float[np.ndarray, "layer head key"]
) -> dict[str, Float[np.ndarray, "layer head"]]:
    weights = {name: _diagonal_sums(record.pattern, offset) for name, offset in _offsets(record).items()}
    if (first_position := first_token(record.attended)) is not None:
        weights["first"] = received[..., first_position]
    if separators := record.attended.positions_with_role("separator"):
        weights["separator"] = received[..., separators].sum(axis=-1)
    total_weight = received.sum(axis=-1)
    return {name: weight / np.where(total_weight > 0, total_weight, 1) for name, weight in weights.items()}


def first_token(keys: Positions) -> int | None:
    """Position of the key that the statistic `first` is about, first token or class token; None for patches without class
    token.
    """
    return 0 if keys.unit == "token" or keys.roles[:1] == ("class",) else None


def _received_weights(pattern: Float[np.ndarray, "*axes query key"]) -> Float[np.ndarray, "*axes key"]:
    return np.asarray(pattern.sum(axis=-2))


def _diagonal_sums(pattern: Float[np.ndarray, "*axes query key"], offset: int) -> Float[np.ndarray, "*axes"]:
    """Sum of the weights on a diagonal of each pattern, sum_i A_{i, i + offset}."""
    return np.asarray(np.diagonal(pattern, offset, axis1=-2, axis2=-1).sum(axis=-1))
