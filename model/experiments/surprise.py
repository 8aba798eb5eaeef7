"""How surprising an answer is, in nats: its loss if the label is known, otherwise its entropy; and the most similar states."""

import numpy as np
from jaxtyping import Float, Int
from scipy.special import entr, log_softmax

from .embeddings import cosine_similarities


def losses(
    logits: Float[np.ndarray, "example class"], labels: Int[np.ndarray, " example"]
) -> Float[np.ndarray, " example"]:
    """Cross-entropy -ln p of the labelled class in nats; NaN for a label below 0, which means that it is unknown."""
    log_probabilities = log_softmax(logits.astype(float), axis=1)
    label_values = np.take_along_axis(log_probabilities, np.maximum(labels, 0)[:, None], axis=1)[:, 0]
    return np.where(labels < 0, np.nan, -label_values)


def entropies(probabilities: Float[np.ndarray, "*axes class"]) -> Float[np.ndarray, "*axes"]:
    """Entropy H = -sum_c p_c ln p_c in nats, from 0 (certain) to ln(number of classes)."""
    return entr(probabilities.astype(float)).sum(axis=-1)


def binary_entropies(probabilities: Float[np.ndarray, "*axes class"]) -> Float[np.ndarray, "*axes"]:
    """Sum over classes of the binary entropy H(p_c, 1 - p_c) in nats, for classes that are predicted independently."""
    p = probabilities.astype(float)
    return (entr(p) + entr(1 - p)).sum(axis=-1)


def most_similar_states(
    states: Float[np.ndarray, "example width"],
) -> tuple[Int[np.ndarray, " example"], Float[np.ndarray, " example"]]:
    """For each state, index and cosine similarity of the most similar other state; -1 and NaN if there is none."""
    cosines = cosine_similarities(states.astype(float), states.astype(float))
    cosines = np.where(np.isnan(cosines), -np.inf, cosines)
    np.fill_diagonal(cosines, -np.inf)
    largest_cosines, nearest_index = cosines.max(axis=1), cosines.argmax(axis=1)
    has_neighbour = np.isfinite(largest_cosines)
    return np.where(has_neighbour, nearest_index, -1), np.where(has_neighbour, largest_cosines, np.nan)
