"""What modules make of states, by functions that are linear in the states; what is not linear in them is held."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..activations import OUTPUT_ACTIVATIONS
from ..parts.block import bias_by_head, linear_norm, weight_by_head
from ..parts.pooling import FirstNumbers, UnitLength

ACTIVATIONS = tuple({type(make()) for make in OUTPUT_ACTIVATIONS.values()})
NEAR_ZERO = 1e-6  # closer to 0 an activation's ratio is that at this number: of tanh 1


def held(
    module: nn.Module, x: Float[Tensor, "*axes width"], one: Float[Tensor, " 1"]
) -> Float[Tensor, "*axes width_out"]:
    """module(x), with gradients of a function that is linear in `x` and in `one` = 1, by which each bias is multiplied.

    So it is the sum of x and `one`, each multiplied by its gradient. Held, which is to have no gradient, are a norm's divisor, the
    length of a vector that is divided by it, and the ratio a(u) / u of each unit of an activation. Raises ValueError for a module
    of which none of this is known.
    """
    match module:
        case nn.Sequential():
            for layer in module:
                x = held(layer, x, one)
            return x
        case nn.Identity() | FirstNumbers():
            return module(x)
        case nn.Linear():
            return functional.linear(x, weight_by_head(module), one * bias_by_head(module))
        case nn.LayerNorm() | nn.RMSNorm():
            norm = linear_norm(module, x.shape[-1])
            return norm.centre(x) / norm.divisor(x).detach() * norm.gain + one * norm.shift
        case UnitLength():
            return x / x.detach().norm(dim=-1, keepdim=True)
    if isinstance(module, ACTIVATIONS):
        u = torch.where(x.abs() < NEAR_ZERO, NEAR_ZERO, x).detach()
        return x * (module(u) / u)
    raise ValueError(f"what {type(module).__name__} makes cannot be divided into parts")
