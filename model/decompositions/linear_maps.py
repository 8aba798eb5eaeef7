"""Linear functions of what a module makes, as linear functions of what it reads; what is not linear in it is held."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..activations import OUTPUT_ACTIVATIONS
from ..parts.block import linear_norm
from ..parts.pooling import FirstNumbers, UnitLength

ACTIVATIONS = tuple({type(make()) for make in OUTPUT_ACTIVATIONS.values()})
NEAR_ZERO = 1e-6  # closer to 0 an activation's ratio is that at this number: of tanh 1


class LinearFunction(NamedTuple):
    """Linear functions of the vectors at some positions: Σ_i weights_i · x_i + constant, for several numbers at once."""

    weights: Float[Tensor, "number position width"]
    constant: Float[Tensor, " number"] | float = 0.0


def pull_back(
    module: nn.Module, x: Float[Tensor, "position width"], function: LinearFunction
) -> LinearFunction:
    """The `function` of module(x) as one of x, equal at this x.

    Held are a norm's divisor, the length of a vector that is divided by it, and the ratio a(u) / u of each unit of an activation.
    Raises ValueError for a module of which none of this is known.
    """
    g, constant = function
    if isinstance(module, nn.Sequential):
        inputs = [x]
        for layer in module:
            inputs.append(layer(inputs[-1]))
        for layer, layer_input in reversed([*zip(module, inputs, strict=False)]):
            function = pull_back(layer, layer_input, function)
        return function
    if isinstance(module, nn.Identity):
        return function
    if isinstance(module, nn.LayerNorm | nn.RMSNorm):
        norm = linear_norm(module, x.shape[-1])
        return LinearFunction(norm.centre(g * norm.gain) / norm.divisor(x), constant + _sum(g, norm.shift))
    if isinstance(module, nn.Linear):
        added = 0.0 if module.bias is None else _sum(g, module.bias)
        return LinearFunction(g @ module.weight, constant + added)
    if isinstance(module, ACTIVATIONS):
        u = torch.where(x.abs() < NEAR_ZERO, NEAR_ZERO, x)
        return LinearFunction(g * (module(u) / u), constant)
    if isinstance(module, UnitLength):
        return LinearFunction(g / x.norm(dim=-1, keepdim=True), constant)
    if isinstance(module, FirstNumbers):
        return LinearFunction(nn.functional.pad(g, (0, x.shape[-1] - g.shape[-1])), constant)
    raise ValueError(f"what {type(module).__name__} makes cannot be divided into parts")


def _sum(
    g: Float[Tensor, "number position width"], vector: Float[Tensor, " width"]
) -> Float[Tensor, " number"]:
    """What a vector that is added at every position adds to each number."""
    return g.sum(dim=1) @ vector
