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

Also here: a head's attention divided among kinds of keys, and the positions on which an answer can depend under a mask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..record import AttentionRecord, ForwardRecord, Positions, Role
from ..record.from_arrays import attention_alone
from .head_measures import mean_distance, mean_entropy, odd_rows

STATISTICS = ("entropy", "confidence", "distance", "previous", "next", "same", "first", "separator", "sink")
# [MASK] and [UNK] stand for a word of the text, and are none of these.
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
    return replace(attention_alone(record), pattern=record.pattern[head_slice], mask=record.mask[head_slice])


def statistics_of_even_weights(record: AttentionRecord) -> dict[str, Float[np.ndarray, "#layer #head"]]:
    """The `statistics` of heads whose queries give equal weight to every allowed key: the chance level for roles.

    If all heads have the same mask, the arrays have one layer and one head.
    """
    mask = record.mask
    if (mask == mask[:1, :1]).all():
        mask = mask[:1, :1]
    pattern = mask / np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    return statistics(replace(attention_alone(record), pattern=pattern.astype(np.float32), mask=mask))


def _offsets(record: AttentionRecord) -> dict[str, int]:
    """Key minus query for the statistics that follow a diagonal: `previous` −1, `next` 1, `same` 0, where they are defined."""
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
    """Position of the first token of a text, or of the class token of a picture; None for a picture without class token."""
    return 0 if keys.unit == "token" or keys.roles[:1] == ("class",) else None


def _received_weights(pattern: Float[np.ndarray, "*axes query key"]) -> Float[np.ndarray, "*axes key"]:
    """Sum over the queries of the weight on each key."""
    return np.asarray(pattern.sum(axis=-2))


def _diagonal_sums(pattern: Float[np.ndarray, "*axes query key"], offset: int) -> Float[np.ndarray, "*axes"]:
    """Sum of the weights on a diagonal of each pattern, sum_i A_{i, i + offset}."""
    return np.asarray(np.diagonal(pattern, offset, axis1=-2, axis2=-1).sum(axis=-1))


class AttentionByKind(NamedTuple):
    """How one head divides its attention among kinds of keys, as shares of its total weight, from 0 to 1."""

    # by `shares_by_kind`; kinds overlap where one key is, say, previous and class token
    kinds: Mapping[str, float]
    short_names: tuple[str, ...]  # the same kinds, in fewer words
    key: int  # index of the key with the most weight
    largest: float  # share of that key


def attention_by_kind(record: AttentionRecord, layer: int, head: int) -> AttentionByKind | None:
    """How one head divides its attention among kinds of keys: the next and the previous token, the query itself, the first or
    the class token, separators. None if the input has no keys of any of these kinds.
    """
    single_head = single_head_record(record, layer, head)
    if not (
        share_by_kind := {kind: float(share[0, 0]) for kind, share in shares_by_kind(single_head).items()}
    ):
        return None
    received = single_head.pattern[0, 0].sum(axis=0)
    total_weight = float(received.sum()) or 1.0
    key = int(received.argmax())
    short_name_by_kind = (
        _kind_names(record) | dict.fromkeys(("previous", "next"), "neighbours") | {"same": "itself"}
    )
    short_name_by_kind |= {"separator": " ".join(_separators(record))}
    if record.attended.roles[:1] == ("class",):
        short_name_by_kind["first"] = record.attended.tokens[0]
    short_names = tuple(dict.fromkeys(short_name_by_kind[name] for name in attention_shares(single_head)))
    return AttentionByKind(
        share_by_kind,
        short_names,
        key,
        float(received[key]) / total_weight,
    )


def shares_by_kind(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Share of each head's weight, from 0 to 1, by kind of key, such as "the next token"."""
    name_by_statistic = _kind_names(record)
    return {name_by_statistic[name]: share for name, share in attention_shares(record).items()}


def _kind_names(record: AttentionRecord) -> dict[str, str]:
    unit = "word" if record.merged else "token"
    plural = "s" if len(record.attended.positions_with_role("separator")) > 1 else ""
    return {
        "next": f"the next {unit}",
        "previous": f"the {unit} before",
        "same": "the query itself",
        "first": "the class token" if record.attended.roles[:1] == ("class",) else f"the first {unit}",
        "separator": f"the separator{plural} {' '.join(_separators(record))}",
    }


def _separators(record: AttentionRecord) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            record.attended.tokens[position] for position in record.attended.positions_with_role("separator")
        )
    )


def clearest_head(record: AttentionRecord) -> tuple[int, int]:
    """Layer and index of the head with the most weight on the next token.

    For patches, which have no next token, it is the head with the largest maximum weight, as a mean over the queries.
    """
    values = attention_shares(record).get("next", record.pattern.max(axis=-1).mean(axis=-1))
    layer, head = np.unravel_index(values.argmax(), values.shape)
    return int(layer), int(head)


def reachable_positions(
    mask: Bool[np.ndarray, "layer head query key"], outputs: Sequence[int]
) -> Bool[np.ndarray, " position"]:
    """Whether the final states at `outputs` can depend on each input position under the mask.

    The residual stream carries each state forward, and each query reads every key that some head allows.
    """
    is_reachable = np.zeros(mask.shape[-1], bool)
    is_reachable[list(outputs)] = True
    for allowed in np.asarray(mask.any(axis=1))[::-1]:
        is_reachable |= allowed[is_reachable].any(axis=0)
    return is_reachable


def can_depend_on_input(record: ForwardRecord) -> bool:
    """Whether, under the record's mask, the answer can depend on any position other than the class token."""
    if not record.has_class_token:
        return True
    return bool(reachable_positions(record.mask, [0])[1:].any())
