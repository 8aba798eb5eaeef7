"""Activation functions by name, as `ModelConfig.activation` and the outputs of other families name them."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn


class QuickGELU(nn.Module):
    """x σ(1.702 x): an approximation of GELU (Hendrycks & Gimpel 2016), used by CLIP."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_tanh": partial(nn.GELU, approximate="tanh"),
    "silu": nn.SiLU,
    "quick_gelu": QuickGELU,
}
# also those that occur between the layers of an output only
OUTPUT_ACTIVATIONS = {**ACTIVATIONS, "tanh": nn.Tanh, "none": nn.Identity}
