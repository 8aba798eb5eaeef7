"""`answer_parts`: one number of an encoder's answer as the sum of what each part of the residual stream adds to it."""

from collections.abc import Callable
from dataclasses import dataclass
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
from ..transformer import Transformer
from .linear_maps import held
from .state_parts import ForwardPass, Part, States, divide, forward_pass, frame

POOLING = "attention_pooling.attention.pattern", "attention_pooling.feed_forward.hidden"
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
    """One number y of an answer, a function of states behind the final norm: y = read(outputs(states, inputs))."""

    quantity: str
    outputs: Callable[[Tensor, Tensor], Outputs]  # of states, and of the inputs that these are of
    read: Callable[[Outputs], Float[Tensor, " input"]]  # linear in them, where gradients are asked for

    def __call__(self, states: Float[Tensor, "input position d_model"], inputs: Tensor) -> Tensor:
        return self.read(self.outputs(states, inputs).double())


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
    forward = forward_pass(loaded, model_input, n_layers, POOLING, by_token=by_token)
    with torch.inference_mode(False), torch.no_grad(), evaluation_mode(model):
        states = model.final_norm(forward.states(n_layers))[None]
        number = answer_number(loaded, model_input, states, answer)
        recorded = float(number(states, forward.inputs))
        others = {}
        if isinstance(model, ImportedEncoder) and model.attention_pooling is not None:
            fed = model.attention_pooling.feed_forward.contract(forward.seen[POOLING[1]])
            others[Part("pooling feed-forward")] = fed.requires_grad_()

        def y(x: States, one: Tensor) -> Float[Tensor, "1"]:
            states = held(model.final_norm, x, one)
            if isinstance(answer, MaskedWord):
                return number.read(_logits_of_word(model, states[[answer.position]], one))
            pooled = _pool(forward, states, one, *others.values())
            is_of_pooled = isinstance(answer, Similarity) or not loaded.config.n_classes
            return number.read(pooled if is_of_pooled else _logits_of_classes(model, states, pooled, one))

        parts, values = divide(forward, n_layers, y, others)
    values_of_frame = values[:, 0].cpu().double().numpy()
    return AnswerParts(number.quantity, frame(parts, forward.positions, values_of_frame), recorded)


def _logits_of_word(
    model: Transformer, state: Float[Tensor, "1 d_model"], one: Tensor
) -> Float[Tensor, "1 token"]:
    output = model.masked_token_output
    assert output is not None, "the answer was checked"
    hidden = held(nn.Sequential(output.transform, output.activation, output.norm), state, one)
    decoder = getattr(output, "decoder", None) or model.embedding.tokens
    return functional.linear(hidden, decoder.weight, one * output.bias)


def _logits_of_classes(
    model: Transformer, states: States, pooled: Float[Tensor, "1 pooled"], one: Tensor
) -> Float[Tensor, "1 class"]:
    """Those of two classifiers, of class and distillation token, are the mean of both."""
    logits = held(model.classifier, pooled, one)
    second = getattr(model, "second_classifier", None)
    return logits if second is None else (logits + held(second, states[[1]], one)) / 2


def _pool(
    forward: ForwardPass, states: States, one: Tensor, fed: Tensor | float = 0.0
) -> Float[Tensor, "1 pooled"]:
    """The pooled state; `fed` is what the feed-forward of attention pooling adds to it."""
    model, inputs = forward.model, forward.inputs
    if not isinstance(model, ImportedEncoder):
        return model.pool(states[None], inputs)
    layers = model.pooled_layers
    if model.config.family.pools_last:
        return model.pool_positions(held(layers, states, one)[None], inputs)
    if model.attention_pooling is None:
        return held(layers, model.pool_positions(states[None], inputs), one)
    # y + FF(LN(y)), where y = Σ_h Σ_j A_hj (x_j W_V^h + b_V^h) W_O^h + b_O
    attention = model.attention_pooling.attention
    pattern = forward.seen[POOLING[0]][:, 0].clone()  # [head, key]
    v = held(attention.w_v, states, one).unflatten(-1, (len(pattern), -1))
    z = torch.einsum("hk,khd->hd", pattern, v)
    return held(layers, held(attention.w_o, z.flatten()[None], one) + fed, one)


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
        quantity = "length of the pooled state"
        return AnswerNumber(quantity, model.pool, lambda u: (u * _direction(u).detach()).sum(dim=-1))
    if not isinstance(answer, Similarity):
        raise ValueError(f"{loaded.name} has no classes, got class {answer}")
    other = pooled
    if answer.other is not None:
        other_inputs = prepare(loaded, answer.other)[0]
        other = model.pool(model.encode(other_inputs), other_inputs)
    v = _direction(other)[0]
    return AnswerNumber("cosine similarity", model.pool, lambda u: _direction(u) @ v.to(u))


def _direction(u: Float[Tensor, "input pooled"]) -> Float[Tensor, "input pooled"]:
    """u / ‖u‖, whose length is held."""
    return u / u.detach().norm(dim=-1, keepdim=True)


def _of_word(loaded: Loaded, word: MaskedWord) -> AnswerNumber:
    assert loaded.tokenizer is not None, "the answer was checked"
    model, n_tokens = loaded.model, loaded.config.vocab_size or 0
    weights = torch.full((n_tokens,), -1 / n_tokens, device=loaded.device)
    weights[word.token_id] += 1.0
    quantity = f"logit of “{loaded.tokenizer.id_to_token(word.token_id)}” minus the mean over the vocabulary"
    return AnswerNumber(
        quantity,
        lambda states, _: model.predict_tokens(states[:, word.position]),
        lambda logits: logits @ weights.to(logits),
    )


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
    return AnswerNumber(quantity, loaded.model.classify, lambda logits: logits @ weights.to(logits))
