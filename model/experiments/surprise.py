"""How surprising an answer is: by the right class where it is known, else by how open the encoder leaves it. In nats."""

import numpy as np
from jaxtyping import Float, Int
from scipy.special import entr

from .embeddings import cosine_similarities

LEAST = float(np.finfo(np.float32).tiny)  # 2^-126; what a float32 cannot hold is taken as this: 87.3 nats


def losses(
    probabilities: Float[np.ndarray, "example class"], labels: Int[np.ndarray, " example"]
) -> Float[np.ndarray, " example"]:
    """-ln p of the right class, the cross-entropy of each example; NaN where the label is below 0, for unknown.

    A loss of 87.3 is "at least that".
    """
    right = np.take_along_axis(probabilities, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    return np.where(labels < 0, np.nan, -np.log(np.maximum(right.astype(float), LEAST)))


def entropies(probabilities: Float[np.ndarray, "*axes class"]) -> Float[np.ndarray, "*axes"]:
    """H = -sum_c p_c ln p_c, from 0 (certain) to ln(number of classes); it is the loss that the encoder itself expects."""
    return entr(probabilities.astype(float)).sum(axis=-1)


def entropies_of_each(probabilities: Float[np.ndarray, "*axes class"]) -> Float[np.ndarray, "*axes"]:
    """Of classes each of which holds or does not: the sum over the classes of H(p_c, 1 - p_c)."""
    p = probabilities.astype(float)
    return (entr(p) + entr(1 - p)).sum(axis=-1)


def most_alike(
    states: Float[np.ndarray, "example width"],
) -> tuple[Int[np.ndarray, " example"], Float[np.ndarray, " example"]]:
    """For each state which of the others is most like it, and their cosine; -1 and NaN where there is none."""
    cosines = cosine_similarities(states.astype(float), states.astype(float))
    cosines = np.where(np.isnan(cosines), -np.inf, cosines)
    np.fill_diagonal(cosines, -np.inf)
    best, at = cosines.max(axis=1), cosines.argmax(axis=1)
    found = np.isfinite(best)
    return np.where(found, at, -1), np.where(found, best, np.nan)
