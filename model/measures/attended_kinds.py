"""Shares of a head's attention on kinds of keys, with their names; and positions on which an answer can depend under a mask."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..record import AttentionRecord, ForwardRecord
from .head_statistics import attention_shares, single_head_record


class AttentionByKind(NamedTuple):
    """How one head divides its attention among kinds of keys, as shares of its total weight, from 0 to 1."""

    kinds: Mapping[
        str, float
    ]  # by `shares_by_kind`; kinds overlap where one key is, say, previous and class token
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
    """Share of each head's weight, from 0 to 1, by name of the kind of key, such as "the next token". Patches have no
    neighbours.
    """
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
    """Whether the answer can depend on the input at all, which means on a position other than the class token."""
    if not record.has_class_token:
        return True
    return bool(reachable_positions(record.mask, [0])[1:].any())
