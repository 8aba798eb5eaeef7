"""Differences between two results: class probabilities, pooled states, log-odds under interventions, or arrays."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float64, Int, Shaped

from ..record import ForwardRecord

# A change of log-odds or log P below ROUNDING (nats), or a cosine distance below ROUNDING_DISTANCE, may be that of two roundings
# of the same number in single precision: it counts as none.
ROUNDING, ROUNDING_DISTANCE = 1e-5, 1e-6


def total_variation(
    before: Float[np.ndarray, "*axes class"], after: Float[np.ndarray, "*others class"]
) -> Float[np.ndarray, "*both"]:
    """Total variation Σ_c |p_c − p'_c| / 2: the share of the probability that has moved to other classes, from 0 to 1."""
    return np.asarray(np.abs(before - after).sum(axis=-1) / 2)


def cosine_distance(
    before: Float[np.ndarray, "*axes d_model"], after: Float[np.ndarray, "*others d_model"]
) -> Float[np.ndarray, "*both"]:
    """Cosine distance 1 − a·b / (|a| |b|), from 0 (the same direction) to 2 (the opposite one); NaN for a vector of zeros."""
    lengths = np.linalg.norm(before, axis=-1) * np.linalg.norm(after, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.clip(1 - (before * after).sum(axis=-1) / lengths, 0, 2))


def largest_change(before: Float[np.ndarray, "*axes"], after: Float[np.ndarray, "*others"]) -> float:
    """Largest |after − before| over all entries, in their own unit; 0 for empty arrays. The shapes broadcast."""
    return float(np.abs(after - before).max(initial=0))


def value_range(*values: Float[np.ndarray, "..."]) -> tuple[float, float]:
    """Smallest and largest number of all arrays together; (0, 0) if there is no number, NaN if a number is NaN."""
    numbers = np.concatenate([np.zeros(0), *(array.ravel() for array in values)])
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)


class ClassUnderInterventions(NamedTuple):
    """How probable one class is under many interventions, and how often it is predicted."""

    kept: int  # interventions after which the class is the most probable
    lowest: float  # lowest probability of the class, from 0 to 1
    highest: float  # highest probability


def class_under_interventions(
    answers: Float[np.ndarray, "intervention class"], class_index: int
) -> ClassUnderInterventions:
    """Statistics of the class `class_index` over `answers`, class probabilities under one or more interventions."""
    probability = answers[:, class_index]
    n_predicted = int((answers.argmax(axis=1) == class_index).sum())
    return ClassUnderInterventions(n_predicted, float(probability.min()), float(probability.max()))


def class_changes(
    before: ForwardRecord, answers: Float[np.ndarray, "*interventions class"], class_index: int
) -> Float[np.ndarray, " *interventions"]:
    """Change of the log-odds of class `class_index` from the record to each of `answers`, which are logits, in nats.

    Log-odds show changes that are hardly visible in probabilities near 0 or 1.
    """
    return log_odds(answers, class_index) - log_odds(before.logits, class_index)


def log_odds(logits: Float[np.ndarray, "*axes class"], class_index: int) -> Float64[np.ndarray, "*axes"]:
    """Log-odds ln(p_c / Σ_{k≠c} p_k) of the class `class_index`, in nats, of which there are two or more.

    They are read from the logits, l_c − ln Σ_{k≠c} exp(l_k): a probability in single precision is 0 or 1 where a logit
    exceeds the others by more than about 100 nats. Any logarithm of the probabilities will do as logits.
    """
    logits = np.asarray(logits, np.float64)
    others = np.delete(logits, class_index, axis=-1)
    with np.errstate(invalid="ignore"):  # the answer to what has no partner is NaN
        return np.asarray(logits[..., class_index] - np.logaddexp.reduce(others, axis=-1))


def largest_indices(
    changes: Float[np.ndarray, "*axes"], rounding: float = ROUNDING
) -> Int[np.ndarray, " change"]:
    """Indices, in the flattened array, of the changes whose absolute value is within `rounding` of the largest one.

    There are none if the largest is at most `rounding`.
    """
    sizes = np.abs(changes).ravel()
    largest = float(sizes.max(initial=0))
    return np.flatnonzero(sizes >= largest - rounding) if largest > rounding else np.empty(0, int)


class LostWeight(NamedTuple):
    """The attention weight that a query had, before a mask, on the keys that the mask forbids."""

    total: float  # a share of its row, from 0 to 1
    keys: tuple[int, ...]  # from the largest loss to the smallest
    weights: tuple[float, ...]  # one a key


def weight_lost_to_mask(before: Float[np.ndarray, " key"], allowed: Bool[np.ndarray, " key"]) -> LostWeight:
    """Weights of one query, before the mask (`before`), on the keys that the mask does not allow, the largest first."""
    masked_keys = np.flatnonzero(~allowed)
    keys = masked_keys[np.argsort(-before[masked_keys], kind="stable")]
    return LostWeight(float(before[masked_keys].sum()), tuple(keys.tolist()), tuple(before[keys].tolist()))


def weight_on_masked(
    pattern: Shaped[np.ndarray, "query key"], mask: Bool[np.ndarray, "query key"]
) -> float | None:
    """Largest weight that any query gives to a masked key; None if no key is masked."""
    return None if mask.all() else float(pattern[~mask].max())
