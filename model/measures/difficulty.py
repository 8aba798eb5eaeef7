"""Which examples are hard for one or two encoders: by loss, or by whether the two predict different classes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8

ExampleIndices = Int[np.ndarray, " chosen"]


def hardest_first(indices: ExampleIndices, losses: Sequence[Float[np.ndarray, " example"]]) -> ExampleIndices:
    """`indices` in order of falling loss, summed over the encoders; equal losses keep their order."""
    return indices[np.argsort(-np.sum(losses, axis=0)[indices], kind="stable")]


def predicted_differently(
    indices: ExampleIndices, first: UInt8[np.ndarray, " example"], second: UInt8[np.ndarray, " example"]
) -> Int[np.ndarray, " different"]:
    """Those of `indices` for which two encoders predict different classes."""
    return indices[first[indices] != second[indices]]
