"""Where heads look, in words; and what of an input can reach an answer under a mask."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..record import AttentionRecord, ForwardRecord
from .head_statistics import elsewhere, looked_at, of_one_head


class Looks(NamedTuple):
    """Where a head looks: shares of all its weight."""

    kinds: Mapping[str, float]  # by `shares`; they overlap where the token before is, say, the class token
    among: tuple[str, ...]  # the same kinds, in fewer words
    elsewhere: float  # on keys of none of these kinds
    key: int  # the key with the most of it
    largest: float  # its share


def looks(record: AttentionRecord, layer: int, head: int) -> Looks | None:
    """None where the input has no key of these kinds."""
    alone = of_one_head(record, layer, head)
    if not (kinds := {what: float(values[0, 0]) for what, values in shares(alone).items()}):
        return None
    received = alone.pattern[0, 0].sum(axis=0)
    whole = float(received.sum()) or 1.0
    key = int(received.argmax())
    words = _words(record) | dict.fromkeys(("previous", "next"), "neighbours") | {"same": "itself"}
    words |= {"separator": " ".join(_separators(record))}
    if record.attended.roles[:1] == ("class",):
        words["first"] = record.attended.tokens[0]
    among = tuple(dict.fromkeys(words[name] for name in looked_at(alone)))
    return Looks(kinds, among, float(elsewhere(alone)[0, 0]), key, float(received[key]) / whole)


def shares(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """`statistics.looked_at` by what is looked at, in words; neighbours are those of a text, since patches lie in a grid."""
    words = _words(record)
    return {words[name]: share for name, share in looked_at(record).items()}


def _words(record: AttentionRecord) -> dict[str, str]:
    one = "word" if record.merged else "token"
    several = "s" if len(record.attended.at("separator")) > 1 else ""
    return {
        "next": f"the next {one}",
        "previous": f"the {one} before",
        "same": "the query itself",
        "first": "the class token" if record.attended.roles[:1] == ("class",) else f"the first {one}",
        "separator": f"the separator{several} {' '.join(_separators(record))}",
    }


def _separators(record: AttentionRecord) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record.attended.tokens[at] for at in record.attended.at("separator")))


def most_telling_head(record: AttentionRecord) -> tuple[int, int]:
    """The head with the largest share on the next token; of patches, and of keys that are no queries, the one that
    spreads its weight least evenly."""
    values = looked_at(record).get("next", record.pattern.max(axis=-1).mean(axis=-1))
    layer, head = np.unravel_index(values.argmax(), values.shape)
    return int(layer), int(head)


def reach(
    mask: Bool[np.ndarray, "layer head query key"], read: Sequence[int]
) -> Bool[np.ndarray, " position"]:
    """The positions of the input on which the last states at the positions `read` can depend.

    A state hands itself on through the residual stream, and a query takes from every key that some head allows it.
    """
    reached = np.zeros(mask.shape[-1], bool)
    reached[list(read)] = True
    for allowed in mask.any(axis=1)[::-1]:
        reached |= allowed[reached].any(axis=0)
    return reached


def depends_on_input(record: ForwardRecord) -> bool:
    """Whether the answer can depend on any position beside the class token, whose vector is always the same."""
    if not record.has_class_token:
        return True
    return bool(reach(record.mask, [0])[1:].any())
