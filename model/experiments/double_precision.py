"""Linear maps and activation functions of an encoder, applied in numpy and in double precision."""

import math

import numpy as np
from jaxtyping import Float
from scipy.special import expit, ndtr
from torch import Tensor, nn

from ..activations import QuickGELU
from ..parts.block import bias_by_head, weight_by_head


def as_float64(values: Tensor) -> Float[np.ndarray, "..."]:
    """The values of a tensor, in double precision."""
    return values.detach().cpu().numpy().astype(float)


def weight_and_bias(layer: nn.Linear) -> tuple[Float[np.ndarray, "inner outer"], Float[np.ndarray, " outer"]]:
    """The weight, transposed so that y = x W + b as in the papers, and the bias, zeros where the map has none.

    Of keys and values that heads share, each head gets its own copy.
    """
    return as_float64(weight_by_head(layer)).T, as_float64(bias_by_head(layer))


def apply_linear(x: Float[np.ndarray, "*axes inner"], layer: nn.Linear) -> Float[np.ndarray, "*axes outer"]:
    """The linear map x W + b."""
    weight, bias = weight_and_bias(layer)
    return x @ weight + bias


def apply_activation(x: Float[np.ndarray, " d_ff"], activation: nn.Module) -> Float[np.ndarray, " d_ff"]:
    """ReLU of x; SiLU x σ(x); or GELU x Φ(x), exactly or in its approximations by tanh and by σ (Hendrycks & Gimpel 2016)."""
    if isinstance(activation, nn.ReLU):
        return np.maximum(x, 0)
    if isinstance(activation, nn.SiLU):
        return x * expit(x)
    if isinstance(activation, QuickGELU):
        return x * expit(1.702 * x)
    if isinstance(activation, nn.GELU) and activation.approximate == "tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * ndtr(x)
