"""Answers of encoders that do not choose one class for the whole input; for all others see `model.experiments.probabilities`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

from ..capture import capture
from ..inputs import InputLike
from ..loaded import Loaded
from .surprise import binary_entropies, entropies


class TokenAnswers(NamedTuple):
    """The tokens of one input whose predicted class is not the most frequent one, and the entropy of the token classes."""

    named: tuple[tuple[str, str], ...]  # token and class, in order
    entropy: float  # nats, mean over the tokens


def answers(loaded: Loaded, inputs: Sequence[InputLike]) -> Float32[np.ndarray, "input class"]:
    """Probabilities of each input (`ForwardRecord.probabilities`), one for each class independently; for a regression,
    plain numbers.
    """
    return np.stack([capture(loaded, model_input).probabilities for model_input in inputs])


def token_answers(loaded: Loaded, inputs: Sequence[InputLike]) -> tuple[TokenAnswers, ...]:
    """Predicted token classes of each input, for an encoder that classifies tokens; only one record is in memory at a time.

    Raises ValueError for other encoders.
    """
    return tuple(_token_answers(loaded, model_input) for model_input in inputs)


def _token_answers(loaded: Loaded, model_input: InputLike) -> TokenAnswers:
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
