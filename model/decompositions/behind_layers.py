"""Linear functions of what an encoder makes of the states behind its last layer, as functions of these states."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..huggingface.encoder import ImportedEncoder
from ..parts.pooling import AttentionPooling
from ..transformer import Transformer
from .linear_maps import LinearFunction, pull_back
from .state_parts import Seen

POOLING_PATTERN = "attention_pooling.attention.pattern"
PositionStates = Float[Tensor, "position d_model"]
Weights = Float[Tensor, " output"]


class OfStates(NamedTuple):
    """A linear function of the states, and what the feed-forward of attention pooling adds to it, if there is one."""

    function: LinearFunction
    pooling_feed_forward: Float[Tensor, " number"] | None = None


def of_vocabulary(model: Transformer, states: PositionStates, position: int, weights: Weights) -> OfStates:
    """The function Σ_k weights_k · logits_k of the logits over the vocabulary at one position."""
    output = model.masked_token_output
    assert output is not None, "the answer was checked"
    decoder = getattr(output, "decoder", None) or model.embedding.tokens
    function = LinearFunction((weights @ decoder.weight)[None, None], (weights @ output.bias)[None])
    hidden = nn.Sequential(output.transform, output.activation, output.norm)
    return OfStates(_at(position, states, pull_back(hidden, states[[position]], function)))


def of_logits(
    model: Transformer, states: PositionStates, inputs: Tensor, seen: Seen, weights: Weights
) -> OfStates:
    """The function Σ_k weights_k · logits_k of the classifier's logits.

    Where class token and distillation token have a classifier each, the logits are the mean of theirs.
    """
    second = getattr(model, "second_classifier", None)
    function = _of(weights if second is None else weights / 2)
    of_pooled = pull_back(model.classifier, model.pool(states[None], inputs), function)
    first_part = _before_pooling(model, states, inputs, seen, of_pooled)
    if second is None:
        return first_part
    at_token = _at(1, states, pull_back(second, states[[1]], function))
    (g, constant), (g_second, constant_second) = first_part.function, at_token
    return OfStates(LinearFunction(g + g_second, constant + constant_second), first_part.pooling_feed_forward)


def of_pooled(
    model: Transformer, states: PositionStates, inputs: Tensor, seen: Seen, weights: Weights
) -> OfStates:
    """The function Σ_k weights_k · pooled_k of the pooled state."""
    return _before_pooling(model, states, inputs, seen, _of(weights))


def _before_pooling(
    model: Transformer, states: PositionStates, inputs: Tensor, seen: Seen, function: LinearFunction
) -> OfStates:
    """A function of the pooled state as one of the states."""
    if not isinstance(model, ImportedEncoder):
        return OfStates(_transposed(model.pool, states, inputs, function))
    layers = model.pooled_layers
    if model.config.family.pools_last:
        function = _transposed(model.pool_positions, layers(states), inputs, function)
        return OfStates(pull_back(layers, states, function))
    function = pull_back(layers, model.pool_positions(states[None], inputs), function)
    if model.attention_pooling is None:
        return OfStates(_transposed(model.pool_positions, states, inputs, function))
    return _before_attention_pooling(
        model.attention_pooling, states, seen[POOLING_PATTERN][0, :, 0], function
    )


def _before_attention_pooling(
    pooling: AttentionPooling,
    states: PositionStates,
    pattern: Float[Tensor, "head key"],
    function: LinearFunction,
) -> OfStates:
    """Through y + FF(LN(y)), where y = Σ_h Σ_j A_hj (x_j W_V^h + b_V^h) W_O^h + b_O, whose weights A are held; FF is a part."""
    attention = pooling.attention
    y = attention(states[None])
    fed = pooling.feed_forward(pooling.norm(y))[0]
    before_w_o = pull_back(attention.w_o, y[0], function)
    by_head = before_w_o.weights.unflatten(-1, (len(pattern), -1))  # [number, 1, head, d_v]
    by_key = (pattern.T[:, :, None] * by_head).flatten(2)  # [number, key, head · d_v]
    before = pull_back(attention.w_v, states, before_w_o._replace(weights=by_key))
    return OfStates(before, (function.weights * fed).sum(dim=(1, 2)))


def _transposed(
    pool: Callable[[Tensor, Tensor], Tensor], states: PositionStates, inputs: Tensor, function: LinearFunction
) -> LinearFunction:
    """Through a pooling that is linear in the states, as a maximum is at the positions that it chose: its gradient."""
    with torch.inference_mode(False), torch.enable_grad():
        leaf = states.clone().requires_grad_()
        (g,) = torch.autograd.grad(pool(leaf[None], inputs), leaf, function.weights[0])
    return LinearFunction(g[None], function.constant)


def _of(weights: Weights) -> LinearFunction:
    return LinearFunction(weights[None, None])


def _at(position: int, states: PositionStates, function: LinearFunction) -> LinearFunction:
    """A function of the state at one position as one of all states."""
    g = states.new_zeros(len(function.weights), *states.shape)
    g[:, [position]] = function.weights
    return LinearFunction(g, function.constant)
