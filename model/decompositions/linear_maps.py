"""Modules as functions that are linear in what they read; what is not linear in it is held."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from ..parts.block import LinearNorm

NEAR_ZERO = 1e-6  # closer to 0 an activation's ratio is that at this number: of tanh 1


class Held(TorchFunctionMode):
    """Context manager: modules make what they always make, as functions that are linear in their input and in `one` = 1.

    `one` multiplies each bias. So what is made is the sum of input and `one`, each multiplied by its gradient. Held, which is to have
    no gradient, are a norm's divisor, the length of a vector that is divided by it, the weights of attention, and the ratio a(u) / u of
    each unit of an activation.
    """

    def __init__(self, one: Float[Tensor, " 1"]) -> None:
        super().__init__()
        self.one = one

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        name, kwargs = function.__name__, kwargs or {}
        match name:
            case "linear":
                x, weight, bias = (*args, kwargs.get("bias"))[:3]
                return functional.linear(x, weight, None if bias is None else self.one * bias)
            case "layer_norm" | "rms_norm":
                (x, _), gain, shift = args, kwargs["weight"], kwargs.get("bias")
                shift = torch.zeros_like(gain) if shift is None else shift
                norm = LinearNorm(name == "layer_norm", kwargs["eps"], gain, shift)
                return norm.centre(x) / norm.divisor(x).detach() * gain + self.one * shift
            case "normalize":
                return args[0] / args[0].detach().norm(dim=-1, keepdim=True)
            case "gelu" | "relu" | "silu" | "tanh":
                u = torch.where(args[0].abs() < NEAR_ZERO, NEAR_ZERO, args[0]).detach()
                return args[0] * (function(u, **kwargs) / u)
            case "sigmoid" | "softmax":
                return function(*args, **kwargs).detach()
        return function(*args, **kwargs)
