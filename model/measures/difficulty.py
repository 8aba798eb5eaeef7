"""Which examples are hard: by the loss of one or two encoders, and by whether the two predict the same class."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8

Ids = Int[np.ndarray, " chosen"]


def hardest_first(ids: Ids, losses: Sequence[Float[np.ndarray, " example"]]) -> Ids:
    """`ids` by their loss, summed over the encoders, the largest first; equal losses stay in order."""
    return ids[np.argsort(-sum(losses)[ids], kind="stable")]


def called_differently(
    ids: Ids, first: UInt8[np.ndarray, " example"], second: UInt8[np.ndarray, " example"]
) -> Int[np.ndarray, " different"]:
    """Those of `ids` for which two encoders predict different classes."""
    return ids[first[ids] != second[ids]]
