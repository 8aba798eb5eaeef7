"""Which class was predicted for inputs of which class."""

import numpy as np
from jaxtyping import Int


def confusion_counts(
    labels: Int[np.ndarray, " example"], predicted: Int[np.ndarray, " example"], n_classes: int
) -> Int[np.ndarray, "label predicted"]:
    """The number of examples with each right class (a row) and each predicted class (a column), [label, predicted].

    Raises ValueError if a class is not from 0 to `n_classes` - 1.
    """
    classes = np.concatenate([labels, predicted])
    if classes.size and not 0 <= classes.min() <= classes.max() < n_classes:
        raise ValueError(f"classes from {classes.min()} to {classes.max()}, of which there are {n_classes}")
    counts = np.zeros((n_classes, n_classes), int)
    np.add.at(counts, (labels, predicted), 1)
    return counts
