"""`answer_parts`: one number of an encoder's answer as the sum of what each part of the residual stream adds to it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..capture import evaluation_mode
from ..experiments.attribution import Explained, Similarity
from ..experiments.masked_word import MaskedWord, check_answer
from ..huggingface.encoder import ImportedEncoder
from ..inputs import InputLike, prepare
from ..loaded import Loaded
from .linear_maps import LinearFunction, pull_back
from .state_parts import ForwardPass, Numbers, Part, divide, forward_pass, frame

POOLING_PATTERN = "attention_pooling.attention.pattern"
States = Float[Tensor, "position d_model"]
Outputs = Float[Tensor, "input output"]


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

    @property
    def early_share(self) -> float:
        """Share of the first half of the L layers in what heads and feed-forwards add, 0 to 1: Σ_{layer < ⌊L / 2⌋} |value| / Σ |value|."""
        of_layers = self.frame.dropna(subset="layer")
        sizes = of_layers.groupby(["layer", "kind", "head"], dropna=False)["value"].sum().abs()
        is_early = sizes.index.get_level_values("layer") < (of_layers["layer"].max() + 1) // 2
        return float(sizes[is_early].sum() / (sizes.sum() or 1.0))


class AnswerNumber(NamedTuple):
    """One number y of an answer, a function of the `outputs` that are read off states behind the final norm."""

    quantity: str
    weights: Float[Tensor, " output"]  # y = Σ_k weights_k · outputs_k at the states that it was made for
    outputs: Callable[[Tensor, Tensor], Outputs]  # of states, and of the inputs that these are of
    number: Callable[[Outputs], Tensor] | None = (
        None  # y of the outputs of other states, if it is not that sum
    )

    def __call__(self, states: Float[Tensor, "input position d_model"], inputs: Tensor) -> Tensor:
        outputs = self.outputs(states, inputs).double()
        return outputs @ self.weights.double() if self.number is None else self.number(outputs)


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
    model, n_layers, fed = loaded.model, loaded.config.n_layers, None
    forward = forward_pass(loaded, model_input, n_layers, [POOLING_PATTERN], by_token=by_token)
    with torch.inference_mode(), evaluation_mode(model):
        last = forward.states(n_layers)
        states = model.final_norm(last)
        number = answer_number(loaded, model_input, states[None], answer)
        if isinstance(answer, MaskedWord):
            function = _before_vocabulary(loaded, states, answer.position, number.weights)
        else:
            function = LinearFunction(number.weights[None, None])
            is_of_pooled = isinstance(answer, Similarity) or not loaded.config.n_classes
            before = _before_pooling if is_of_pooled else _before_classifier
            function, fed = before(forward, states, function)
        function = pull_back(model.final_norm, last, function)
        read = function.weights[0].any(dim=-1).nonzero()[:, 0]
        function = LinearFunction(function.weights[:, read], function.constant)
        parts, values = divide(forward, n_layers, function, read)
        if fed is not None:
            parts, values = [*parts, Part("pooling feed-forward")], torch.cat((values, fed[None]))
        recorded = float(number(states[None], forward.inputs))
    values_of_frame = values[:, 0].cpu().double().numpy()
    return AnswerParts(number.quantity, frame(parts, forward.positions, values_of_frame), recorded)


def _before_vocabulary(
    loaded: Loaded, states: States, position: int, weights: Float[Tensor, " token"]
) -> LinearFunction:
    """Σ_k weights_k · logits_k of the logits over the vocabulary at one position, as a function of the states."""
    output = loaded.model.masked_token_output
    assert output is not None, "the answer was checked"
    decoder = getattr(output, "decoder", None) or loaded.model.embedding.tokens
    function = LinearFunction((weights @ decoder.weight)[None, None], (weights @ output.bias)[None])
    hidden = nn.Sequential(output.transform, output.activation, output.norm)
    at_position, constant = pull_back(hidden, states[[position]], function)
    g = states.new_zeros(1, *states.shape)
    g[:, [position]] = at_position
    return LinearFunction(g, constant)


def _before_classifier(
    forward: ForwardPass, states: States, function: LinearFunction
) -> tuple[LinearFunction, Numbers | None]:
    """A function of the logits, as `_before_pooling` returns it; logits of two classifiers, of class and distillation token, are the
    mean of both.
    """
    model, second = forward.model, getattr(forward.model, "second_classifier", None)
    half = LinearFunction(function.weights / (1 if second is None else 2))
    of_pooled = pull_back(model.classifier, model.pool(states[None], forward.inputs), half)
    (g, constant), fed = _before_pooling(forward, states, of_pooled)
    if second is not None:
        of_token, of_bias = pull_back(second, states[[1]], half)
        g[:, [1]] += of_token
        constant = constant + of_bias
    return LinearFunction(g, constant), fed


def _before_pooling(
    forward: ForwardPass, states: States, function: LinearFunction
) -> tuple[LinearFunction, Numbers | None]:
    """A function of the pooled state as one of the states, and what the feed-forward of attention pooling adds, if there is one."""
    model, inputs = forward.model, forward.inputs
    if not isinstance(model, ImportedEncoder):
        return _transposed(model.pool, states, inputs, function), None
    layers = model.pooled_layers
    if model.config.family.pools_last:
        function = _transposed(model.pool_positions, layers(states), inputs, function)
        return pull_back(layers, states, function), None
    function = pull_back(layers, model.pool_positions(states[None], inputs), function)
    if (pooling := model.attention_pooling) is None:
        return _transposed(model.pool_positions, states, inputs, function), None
    # y + FF(LN(y)), where y = Σ_h Σ_j A_hj (x_j W_V^h + b_V^h) W_O^h + b_O
    y = pooling.attention(states[None])
    fed = (function.weights * pooling.feed_forward(pooling.norm(y))).sum(dim=(1, 2))
    pattern = forward.seen[POOLING_PATTERN][0, :, 0]  # [head, key]
    of_heads = pull_back(pooling.attention.w_o, y[0], function)
    by_key = pattern.T[:, :, None] * of_heads.weights.unflatten(-1, (len(pattern), -1))
    by_key = LinearFunction(by_key.flatten(2), of_heads.constant)
    return pull_back(pooling.attention.w_v, states, by_key), fed


def _transposed(
    pool: Callable[[Tensor, Tensor], Tensor], states: States, inputs: Tensor, function: LinearFunction
) -> LinearFunction:
    """Through a pooling that is linear in the states, as a maximum is at the positions that it chose: its gradient."""
    with torch.inference_mode(False), torch.enable_grad():
        leaf = states.clone().requires_grad_()
        (g,) = torch.autograd.grad(pool(leaf[None], inputs), leaf, function.weights[0])
    return LinearFunction(g[None], function.constant)


def answer_number(
    loaded: Loaded, model_input: InputLike, states: Float[Tensor, "1 position d_model"], answer: Explained
) -> AnswerNumber:
    """The number y of `answer_parts`, for an input and its states behind the final norm. Raises ValueError as `answer_parts` does."""
    model, config = loaded.model, loaded.config
    inputs, _ = prepare(loaded, model_input)
    if isinstance(answer, MaskedWord):
        check_answer(loaded, [model_input], answer)
        return _of_word(loaded, answer)
    if config.n_classes and not isinstance(answer, Similarity):
        return _of_classes(loaded, model.classify(states, inputs)[0], answer)
    pooled = model.pool(states, inputs)
    if answer is None:
        length = partial(torch.linalg.vector_norm, dim=-1)
        return AnswerNumber("length of the pooled state", (pooled / pooled.norm())[0], model.pool, length)
    if not isinstance(answer, Similarity):
        raise ValueError(f"{loaded.name} has no classes, got class {answer}")
    other = pooled
    if answer.other is not None:
        other_inputs = prepare(loaded, answer.other)[0]
        other = model.pool(model.encode(other_inputs), other_inputs)
    weights = (other / (other.norm() * pooled.norm()))[0]
    cosine = partial(functional.cosine_similarity, other.double())
    return AnswerNumber("cosine similarity", weights, model.pool, cosine)


def _of_word(loaded: Loaded, word: MaskedWord) -> AnswerNumber:
    assert loaded.tokenizer is not None, "the answer was checked"
    model, n_tokens = loaded.model, loaded.config.vocab_size or 0
    weights = torch.full((n_tokens,), -1 / n_tokens, device=loaded.device)
    weights[word.token_id] += 1.0
    quantity = f"logit of “{loaded.tokenizer.id_to_token(word.token_id)}” minus the mean over the vocabulary"
    return AnswerNumber(quantity, weights, lambda states, _: model.predict_tokens(states[:, word.position]))


def _of_classes(loaded: Loaded, logits: Float[Tensor, " class"], answer: int | None) -> AnswerNumber:
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
    return AnswerNumber(quantity, weights, loaded.model.classify)
