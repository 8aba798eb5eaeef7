"""What attribution explains: one number F of an encoder's answer, as a function of the states behind the last block.

- The log-odds of a class, ln(p_c / Σ_{k≠c} p_k), in nats, for an encoder that chooses one of several classes.
- log P of a word in place of [MASK], in nats (`model.experiments.masked_word`).
- The cosine similarity of the pooled state with that of another input, which stays as it is: what sentence encoders are
  compared by. Without another input it is the similarity with the input's own pooled state, which is 1 at the input, so its
  fall is the cosine distance that other experiments measure for encoders without classes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from ..capture import evaluation_mode
from ..config import ModelConfig
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from ..measures.changes import cosine_distance
from .masked_word import MaskedWord, check_answer, log_probability


@dataclass(frozen=True)
class Similarity:
    """The answer "cosine similarity with the pooled state of `other`", from -1 to 1; None: with the input's own, unchanged.

    >>> from loupe import Similarity, integrated_gradients, load
    >>> encoder = load("checkpoints/imdb-pre-ln")
    >>> integrated_gradients(encoder, "A gripping film.", Similarity("A dull film.")).values.shape
    (6,)
    """

    other: InputLike | None = None


Explained = int | MaskedWord | Similarity | None  # an int is the number of a class
OfStates = Callable[[Float[Tensor, "input position d_model"], Tensor], Float[Tensor, " input"]]


def explained_answer(loaded: Loaded, model_input: InputLike, answer: Explained = None) -> OfStates:
    """F as a function of the states behind the final norm (`Transformer.encode`) and the inputs that they are of.

    `answer` None means the class that is predicted for the input; for an encoder without classes, `Similarity()`. Raises as
    `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do, and ValueError for a class that the encoder
    does not have.
    """
    model, config = loaded.model, loaded.config
    answer = given_answer(config, answer)
    if isinstance(answer, MaskedWord):
        word = answer
        check_answer(loaded, [model_input], word)
        return lambda states, _inputs: log_probability(model, states, word)[:, 0]
    if isinstance(answer, Similarity):
        other = model_input if answer.other is None else answer.other
        pooled = _without_gradient(loaded, other, model.pool)
        return lambda states, inputs: functional.cosine_similarity(model.pool(states, inputs), pooled, dim=-1)
    if not _has_classes(config):
        raise ValueError(f"{loaded.name} does not choose one of several classes: it has no class to explain")
    if answer is not None and answer not in range(config.n_classes):
        raise ValueError(f"{loaded.name} has the classes 0 to {config.n_classes - 1}, got {answer}")
    followed = (
        int(_without_gradient(loaded, model_input, model.classify).argmax()) if answer is None else answer
    )
    return lambda states, inputs: _log_odds(model.classify(states, inputs), followed)


def given_answer(config: ModelConfig, answer: Explained) -> Explained:
    """The `answer`, or for an encoder without classes `Similarity()` in place of None."""
    return Similarity() if answer is None and not _has_classes(config) else answer


def similarity_falls(
    before: Float[np.ndarray, " d_pooled"],
    answers: Float[np.ndarray, "*interventions d_pooled"],
    other: Float[np.ndarray, " d_pooled"],
) -> Float[np.ndarray, " *interventions"]:
    """Falls of the cosine similarity with the pooled state `other`, from the pooled state `before` to each of `answers`."""
    return cosine_distance(answers, other) - cosine_distance(before, other)


def _has_classes(config: ModelConfig) -> bool:
    return config.chooses_class and config.n_classes > 1


def _without_gradient(
    loaded: Loaded, model_input: InputLike, output: Callable[[Tensor, Tensor], Tensor]
) -> Float[Tensor, "1 output"]:
    """The `output` of one input, which is read off its states."""
    inputs, _ = prepare(loaded, model_input)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(loaded.model):
        return output(loaded.model.encode(inputs), inputs)


def _log_odds(logits: Float[Tensor, "input class"], followed: int) -> Float[Tensor, " input"]:
    others = torch.cat((logits[:, :followed], logits[:, followed + 1 :]), dim=1)
    return logits[:, followed] - others.logsumexp(dim=1)
