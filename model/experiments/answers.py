"""What encoders answer that do not choose one class for the whole input; `model.experiments.probabilities` is of those that do."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

from ..capture import capture
from ..inputs import InputLike
from ..loaded import Loaded
from .surprise import entropies, entropies_of_each


class TokenAnswers(NamedTuple):
    """The tokens of one input that have another class than most, and how open the classes are."""

    named: tuple[tuple[str, str], ...]  # token and class, in order
    entropy: float  # nats, mean over the tokens


def answers(loaded: Loaded, inputs: Sequence[InputLike]) -> Float32[np.ndarray, "input class"]:
    """`ForwardRecord.probabilities` of each input: numbers, or a probability for each class by itself."""
    return np.stack([capture(loaded, each).probabilities for each in inputs])


def token_answers(loaded: Loaded, inputs: Sequence[InputLike]) -> tuple[TokenAnswers, ...]:
    """Of an encoder with an output for each token. One record is in memory at a time."""
    return tuple(_of_tokens(loaded, each) for each in inputs)


def _of_tokens(loaded: Loaded, given: InputLike) -> TokenAnswers:
    record = capture(loaded, given)
    values, names = record.token_probabilities, record.token_class_names
    each_by_itself = len(names) == 1 or record.config.family.token_answers == "each"
    entropy = float((entropies_of_each if each_by_itself else entropies)(values).mean())
    said = values.argmax(axis=-1)
    stands_out = values[:, 0] >= 0.5 if len(names) == 1 else said != np.bincount(said).argmax()
    inside = [
        at for at in np.flatnonzero(stands_out).tolist() if record.roles[at] in ("word", "continuation")
    ]
    return TokenAnswers(tuple((record.tokens[at], names[said[at]]) for at in inside), entropy)
