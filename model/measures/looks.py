"""Where heads look: the share of their weight on the next token, on themselves and on tokens that are no words.

Measures of a pattern [..., query, key], whose rows sum to 1; and what of an input can reach an answer under a mask.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from ..record import AttentionRecord, ForwardRecord


def share_at(pattern: Float[np.ndarray, "*axes query key"], offset: int) -> Float[np.ndarray, "*axes"]:
    """Mean of A_{i, i + offset} over the queries i that have such a key, from 0 to 1; 0 where none has."""
    weights = np.diagonal(pattern, offset, axis1=-2, axis2=-1)
    return np.asarray(weights.mean(axis=-1)) if weights.shape[-1] else np.zeros(pattern.shape[:-2])


def share_on(
    pattern: Float[np.ndarray, "*axes query key"], keys: Sequence[int]
) -> Float[np.ndarray, "*axes"]:
    """Mean over all queries of the weight on any of `keys`, from 0 to 1."""
    return np.asarray(pattern[..., list(keys)].sum(axis=-1).mean(axis=-1))


def shares(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """By what is looked at, in words; neighbours are those of a text, since patches lie in a grid.

    Of keys that are no queries none is a neighbour.
    """
    found = {}
    if record.keys is None:
        found = {"itself": share_at(record.pattern, 0)}
    if record.keys is None and record.unit == "token":
        one = "word" if record.merged else "token"
        found = {
            f"the next {one}": share_at(record.pattern, 1),
            f"the {one} before": share_at(record.pattern, -1),
        } | found
    for role, name in (("class", "the class token"), ("separator", "the separator")):
        if keys := record.attended.at(role):
            found[name] = share_on(record.pattern, keys)
    return found


def most_telling_head(record: AttentionRecord) -> tuple[int, int]:
    """The head with the largest share on the next token; of patches, and of keys that are no queries, the one that
    spreads its weight least evenly."""
    if record.unit == "token" and record.keys is None:
        values = share_at(record.pattern, 1)
    else:
        values = record.pattern.max(axis=-1).mean(axis=-1)
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
