"""`answer_parts`: one number of an encoder's answer as the sum of what each part of the residual stream adds to it."""

from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from ..capture import activations, evaluation_mode
from ..experiments.explained_answer import Explained, Similarity
from ..experiments.masked_word import MaskedWord, check_answer
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .behind_layers import POOLING_PATTERN, of_logits, of_pooled, of_vocabulary
from .linear_maps import LinearFunction, pull_back
from .state_parts import Part, divide, frame, hook_names, states_behind


@dataclass(frozen=True, slots=True, eq=False)
class AnswerParts:
    """One number of an answer, divided among parts."""

    quantity: str  # what the number is: "logit of positive minus negative"
    frame: pd.DataFrame  # a row for each part: part (its name), kind, layer, head, read_from, value
    recorded: float  # the number, as the forward pass computed it

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return float(self.frame["value"].sum())

    @property
    def gap(self) -> float:
        """How far the sum of the parts is from what was recorded."""
        return abs(self.total - self.recorded)


class Number(NamedTuple):
    """A number of an answer, Σ_k weights_k · outputs_k: of logits, or of the pooled state."""

    quantity: str
    weights: Float[Tensor, " output"]
    outputs: Float[Tensor, " output"]


def answer_parts(
    loaded: Loaded, model_input: InputLike, answer: Explained = None, *, by_token: bool = False
) -> AnswerParts:
    """What each part adds to one number y of the answer: y = Σ_p value_p, up to rounding (the result's `gap`).

    value_p = Σ_i g_i · x_i^p, where x_i^p is the part of the state at position i, and g_i · x_i what y is of the states once the
    following is held: the σ of every norm (of RMSNorm the root mean square), the positions that maximum pooling chose, the weights of
    attention pooling, the length by which a vector is divided, and of an activation behind the last layer each unit's ratio a(u) / u
    (of tanh 1 at 0).

    - `answer` is the number of a class, or None for that with the largest logit. For two classes y is its logit minus the other's, for
      more its logit minus the mean of the others; of a yes or no for each class, or of plain numbers, that logit or number.
    - For a `MaskedWord` y is its logit minus the mean of the logits of the whole vocabulary.
    - For a `Similarity` y is u · v / (‖u‖ ‖v‖), where u and v are the pooled states of this input and of the other; both lengths and
      v are held.
    - For None, of an encoder without classes, y is ‖u‖ = u · u / ‖u‖; the direction u / ‖u‖ is held.

    A head's part, z_h W_O^h, holds b_V; a feed-forward's part is all of its output, and so is that of attention pooling's feed-forward.
    The `biases` are those of norms, W_O, the map of patches and the layers behind the last block. With `by_token` a head has a row
    for each token that it read, `read_from`. For sources see `model.decompositions`.

    Raises ValueError as `model.inputs.prepare` and `model.experiments.masked_word.check_answer` do, for a class that the encoder does
    not have, and for an encoder with a layer that cannot be divided.

    >>> from loupe import answer_parts, load
    >>> parts = answer_parts(load("checkpoints/imdb-pre-ln"), "A gripping film.")
    >>> parts.quantity, list(parts.frame["part"][:3]), parts.gap < 1e-5
    ('logit of positive minus negative', ['token', 'position', 'L0 H0'], True)
    """
    model, n_layers = loaded.model, loaded.config.n_layers
    inputs, positions = prepare(loaded, model_input)
    names = ["logits", *hook_names(n_layers, by_token=by_token)]
    names += [POOLING_PATTERN] if loaded.config.family.attention_pooling else []
    seen = activations(loaded, [model_input], names)
    with torch.inference_mode(), evaluation_mode(model):
        last = states_behind(seen, n_layers)
        states = model.final_norm(last)
        if isinstance(answer, MaskedWord):
            check_answer(loaded, [model_input], answer)
            number = _of_word(loaded, model.predict_tokens(states[[answer.position]])[0], answer)
            function, fed = of_vocabulary(model, states, answer.position, number.weights)
        elif isinstance(answer, Similarity) or not loaded.config.n_classes:
            number = _of_pooled_state(loaded, model.pool(states[None], inputs)[0], answer)
            function, fed = of_pooled(model, states, inputs, seen, number.weights)
        else:
            number = _of_classes(loaded, seen["logits"][0], answer)
            function, fed = of_logits(model, states, inputs, seen, number.weights)
        function = pull_back(model.final_norm, last, function)
        read = function.weights[0].any(dim=-1).nonzero()[:, 0]
        function = LinearFunction(function.weights[:, read], function.constant)
        parts, values = divide(model, inputs, seen, n_layers, function, read, by_token=by_token)
        if fed is not None:
            parts.append(Part("pooling feed-forward"))
            values = torch.cat((values, fed[None]))
        recorded = float(number.weights.double() @ number.outputs.double())
    return AnswerParts(
        number.quantity, frame(parts, positions, values[:, 0].cpu().double().numpy()), recorded
    )


def _of_word(loaded: Loaded, logits: Float[Tensor, " token"], word: MaskedWord) -> Number:
    assert loaded.tokenizer is not None, "the answer was checked"
    weights = torch.full_like(logits, -1 / len(logits))
    weights[word.token_id] += 1.0
    token = loaded.tokenizer.id_to_token(word.token_id)
    return Number(f"logit of “{token}” minus the mean over the vocabulary", weights, logits)


def _of_classes(loaded: Loaded, logits: Float[Tensor, " class"], answer: int | None) -> Number:
    config = loaded.config
    index = int(logits.argmax()) if answer is None else answer
    if index not in range(config.n_classes):
        raise ValueError(f"{loaded.name} has the classes 0 to {config.n_classes - 1}, got {answer}")
    name = config.class_names[index]
    quantity = name if config.family.answers == "numbers" else f"logit of {name}"
    weights = torch.zeros_like(logits)
    if config.chooses_class and config.n_classes > 1:
        weights -= 1 / (config.n_classes - 1)
        others = "the mean of the others" if config.n_classes > 2 else config.class_names[1 - index]
        quantity = f"{quantity} minus {others}"
    weights[index] = 1.0
    return Number(quantity, weights, logits)


def _of_pooled_state(loaded: Loaded, pooled: Float[Tensor, " d_pooled"], answer: Explained) -> Number:
    if isinstance(answer, Similarity):
        other = pooled
        if answer.other is not None:
            inputs = prepare(loaded, answer.other)[0]
            other = loaded.model.pool(loaded.model.encode(inputs), inputs)[0]
        return Number("cosine similarity", other / (other.norm() * pooled.norm()), pooled)
    if answer is not None:
        raise ValueError(f"{loaded.name} has no classes, got class {answer}")
    return Number("length of the pooled state", pooled / pooled.norm(), pooled)
