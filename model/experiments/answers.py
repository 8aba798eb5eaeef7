"""Answers of encoders with a class for each token, independent classes or a regression, and how certain or alike answers are."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int
from scipy.special import entr, log_softmax

from ..capture import capture
from ..inputs import InputLike
from ..loaded import Loaded
from .embeddings import cosine_similarities


class TokenAnswers(NamedTuple):
    """Predicted classes of the tokens of one input.

    `named` holds (token, class name) of the tokens whose class is not the most frequent one of the input (or, if there is a
    single class, whose probability is at least 0.5); `entropy` is the mean entropy over the tokens, in nats.
    """

    named: tuple[tuple[str, str], ...]  # token and class, in order
    entropy: float  # nats, mean over the tokens


def answers(loaded: Loaded, inputs: Sequence[InputLike]) -> Float32[np.ndarray, "input class"]:
    """For each input `ForwardRecord.probabilities`: a probability for each independent class, or the numbers of a regression."""
    return np.stack([capture(loaded, model_input).probabilities for model_input in inputs])


def token_answers(loaded: Loaded, inputs: Sequence[InputLike]) -> tuple[TokenAnswers, ...]:
    """Predicted token classes of each input, for an encoder that classifies tokens.

    Raises ValueError for other encoders.
    """
    return tuple(_token_answers(loaded, model_input) for model_input in inputs)


def _token_answers(loaded: Loaded, model_input: InputLike) -> TokenAnswers:
    """The result of `token_answers` for one input."""
    record = capture(loaded, model_input)
    probabilities, names = record.token_probabilities, record.token_class_names
    if probabilities is None:
        raise ValueError(f"{loaded.name} has no output for each token")
    are_independent = len(names) == 1 or record.config.family.token_answers == "each"
    entropy = float((binary_entropies if are_independent else entropies)(probabilities).mean())
    predicted = probabilities.argmax(axis=-1)
    most_frequent = np.bincount(predicted).argmax()
    is_rare = probabilities[:, 0] >= 0.5 if len(names) == 1 else predicted != most_frequent
    rare_tokens = [
        (record.tokens[position], names[predicted[position]])
        for position in np.flatnonzero(is_rare).tolist()
        if record.roles[position] in ("word", "continuation")
    ]
    return TokenAnswers(tuple(rare_tokens), entropy)


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
