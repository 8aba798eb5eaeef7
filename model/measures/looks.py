"""Where heads look, in words; and what of an input can reach an answer under a mask."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from ..record import AttentionRecord, ForwardRecord
from .statistics import looked_at


def shares(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """`statistics.looked_at` by what is looked at, in words; neighbours are those of a text, since patches lie in a grid."""
    one = "word" if record.merged else "token"
    words = {
        "next": f"the next {one}",
        "previous": f"the {one} before",
        "same": "itself",
        "first": "the class token" if record.attended.roles[:1] == ("class",) else f"the first {one}",
        "separator": "the separator" if len(record.attended.at("separator")) == 1 else "the separators",
    }
    found = looked_at(record)
    return {said: found[name] for name, said in words.items() if name in found}


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
