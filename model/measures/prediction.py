"""How much a change of the input or of the encoder changes what comes out.

Measured on the prediction; on the pooled state where an encoder has no classes.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from model.record import ForwardRecord


class Change(NamedTuple):
    value: float
    name: str  # of the measure


def change(before: ForwardRecord, after: ForwardRecord) -> Change:
    """Between two records of one encoder, or of two with the same classes. Raises ValueError for other classes."""
    if before.class_names != after.class_names:
        raise ValueError(
            f"{before.class_names} and {after.class_names} are different classes: nothing to compare"
        )
    if before.has_classes:
        value = total_variation(before.probabilities, after.probabilities)
        return Change(float(value), "total variation of the prediction")
    return Change(float(cosine_distance(before.pooled, after.pooled)), "cosine distance of the pooled state")


def total_variation(
    before: Float[np.ndarray, "*axes class"], after: Float[np.ndarray, "*others class"]
) -> Float[np.ndarray, "*both"]:
    """Σ_c |p_c − p'_c| / 2: the probability that has moved to other classes, from 0 to 1."""
    return np.asarray(np.abs(before - after).sum(axis=-1) / 2)


def cosine_distance(
    before: Float[np.ndarray, "*axes d_model"], after: Float[np.ndarray, "*others d_model"]
) -> Float[np.ndarray, "*both"]:
    """1 − a·b / (|a| |b|): from 0 (the same direction) to 2 (the opposite one); NaN for a vector of zeros."""
    lengths = np.linalg.norm(before, axis=-1) * np.linalg.norm(after, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.clip(1 - (before * after).sum(axis=-1) / lengths, 0, 2))
