"""Predicted classes of examples compared with their labels and with another encoder's, difficult examples, and labels read from text."""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, UInt8


def confusion_counts(
    labels: Int[np.ndarray, " example"], predicted: Int[np.ndarray, " example"], n_classes: int
) -> Int[np.ndarray, "label predicted"]:
    """The number of examples with each right class (a row) and each predicted class (a column), [label, predicted]."""
    counts = np.zeros((n_classes, n_classes), int)
    np.add.at(counts, (labels, predicted), 1)
    return counts


ExampleIndices = Int[np.ndarray, " chosen"]


def hardest_first(indices: ExampleIndices, losses: Sequence[Float[np.ndarray, " example"]]) -> ExampleIndices:
    """The `indices` in the order of falling loss, summed over the encoders; indices of equal loss keep their order."""
    return indices[np.argsort(-np.sum(losses, axis=0)[indices], kind="stable")]


def predicted_differently(
    indices: ExampleIndices, first: UInt8[np.ndarray, " example"], second: UInt8[np.ndarray, " example"]
) -> Int[np.ndarray, " different"]:
    """Those of the `indices` at which `first` and `second`, the classes predicted by two encoders, differ."""
    return indices[first[indices] != second[indices]]


def class_index_of(label: object, names: tuple[str, ...]) -> int:
    """Index of the class that `label` names, in upper or lower case, or whose index it is: "1", or "1.0" as pandas writes a column
    in which labels are missing.

    Raises ValueError if there is no such class.
    """
    word = str(label).strip().lower()
    if word in (lower_case_names := [name.lower() for name in names]):
        return lower_case_names.index(word)
    number = re.sub(r"[.,]0*$", "", word)
    if number.isdecimal() and int(number) < len(names):
        return int(number)
    raise ValueError(f"a label must be one of {names} or a number below {len(names)}, got {label!r}")
