"""Which examples are difficult for encoders: those with a large loss, or those for which two encoders predict different
classes.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8

ExampleIndices = Int[np.ndarray, " chosen"]


def hardest_first(indices: ExampleIndices, losses: Sequence[Float[np.ndarray, " example"]]) -> ExampleIndices:
    """The `indices` in the order of falling loss, summed over the encoders; indices of equal loss keep their order."""
    return indices[np.argsort(-np.sum(losses, axis=0)[indices], kind="stable")]


def predicted_differently(
    indices: ExampleIndices, first: UInt8[np.ndarray, " example"], second: UInt8[np.ndarray, " example"]
) -> Int[np.ndarray, " different"]:
    """Those of the `indices` for which two encoders predict different classes; `first` and `second` hold the predicted
    classes.
    """
    return indices[first[indices] != second[indices]]
