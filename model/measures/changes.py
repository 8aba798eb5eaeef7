"""How much two results differ: predictions, pooled states, one class under many interventions, or any arrays."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Shaped

from ..record import ForwardRecord


class Change(NamedTuple):
    value: float
    name: str  # of the measure


def change(before: ForwardRecord, after: ForwardRecord) -> Change:
    """Between two records of one encoder, or of two with the same classes. Raises ValueError for other classes."""
    if before.class_names != after.class_names:
        both = f"{before.class_names} and {after.class_names}"
        raise ValueError(f"{both} are different classes: nothing to compare")
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


def largest_change(before: Float[np.ndarray, "*axes"], after: Float[np.ndarray, "*others"]) -> float:
    """max |after − before| over all numbers, in their own unit; 0 where the arrays are empty.

    The shapes broadcast: one array can be compared with many, stacked along a first axis.
    """
    return float(np.abs(after - before).max(initial=0))


def extremes(*values: Float[np.ndarray, "..."]) -> tuple[float, float]:
    """The least and the largest of all these numbers: 0 and 0 where there is none, NaN where one is NaN."""
    numbers = np.concatenate([np.zeros(0), *(each.ravel() for each in values)])
    return (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)


class OneClass(NamedTuple):
    """What became of one class under many interventions."""

    kept: int  # how many of them leave it the most probable
    lowest: float  # its probability, from 0 to 1
    highest: float


def one_class(answers: Float[np.ndarray, "intervention class"], followed: int) -> OneClass:
    """Over at least one intervention: how many leave the class `followed` the most probable, and its least and largest probability."""
    probability = answers[:, followed]
    kept = int((answers.argmax(axis=1) == followed).sum())
    return OneClass(kept, float(probability.min()), float(probability.max()))


def changes_of_class(
    before: ForwardRecord, answers: Float[np.ndarray, "intervention answer"], followed: int | None
) -> Float[np.ndarray, " intervention"]:
    """logit p'_c − logit p_c of the class `followed`, in nats, under each intervention, with logit p = ln(p / (1 − p)).

    A probability near 0 or 1 hides what was moved; the log-odds do not. Where an encoder has no classes and so `followed` is None, `answers` are pooled states [d_model], and what is
    returned is their cosine distance from the one before, from 0 to 2.
    """
    if followed is None:
        return cosine_distance(before.pooled, answers)
    return log_odds(answers, followed) - log_odds(before.probabilities, followed)


def fall(
    whole: Float[np.ndarray, " answer"],
    answers: Float[np.ndarray, "*interventions answer"],
    followed: int | None,
) -> Float[np.ndarray, " *interventions"]:
    """How far each of the `answers` has fallen from that to the `whole` input.

    The fall of the log-odds of the class `followed`, in nats, below 0 where it rose; without classes (None) the cosine
    distance of the pooled states, from 0 to 2.
    """
    if followed is None:
        return cosine_distance(whole, answers)
    return log_odds(whole, followed) - log_odds(answers, followed)


def log_odds(probabilities: Float[np.ndarray, "*axes class"], followed: int) -> Float[np.ndarray, "*axes"]:
    """ln(p_c / Σ_{k≠c} p_k) of the class `followed`: near 1, 1 − p_c would have lost all its digits.

    What has no probability left counts as the least that float32 holds in full.
    """
    probabilities = np.asarray(probabilities, np.float64)
    least = float(np.finfo(np.float32).tiny)
    others = np.delete(probabilities, followed, axis=-1).sum(axis=-1)
    return np.asarray(
        np.log(np.maximum(probabilities[..., followed], least)) - np.log(np.maximum(others, least))
    )


def strongest(changes: Float[np.ndarray, " intervention"]) -> int:
    """Which of them is the largest change, either way; the first of equal ones."""
    return int(np.abs(changes).argmax())


class Lost(NamedTuple):
    """The weight that a query gave, before a mask, to the keys that the mask now forbids."""

    total: float  # a share of its row, from 0 to 1
    keys: tuple[int, ...]  # from the largest loss to the smallest
    weights: tuple[float, ...]  # one a key


def lost(before: Float[np.ndarray, " key"], allowed: Bool[np.ndarray, " key"]) -> Lost:
    """Of a row of weights; of equal losses the earlier key comes first."""
    forbidden = np.flatnonzero(~allowed)
    keys = forbidden[np.argsort(-before[forbidden], kind="stable")]
    return Lost(float(before[forbidden].sum()), tuple(keys.tolist()), tuple(before[keys].tolist()))


def weight_on_masked(
    pattern: Shaped[np.ndarray, "query key"], mask: Bool[np.ndarray, "query key"]
) -> float | None:
    """The largest weight that a query gives to a key it may not attend to; None where no key is masked."""
    return None if mask.all() else float(pattern[~mask].max())
