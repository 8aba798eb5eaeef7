"""Linear maps, by the faster of the two libraries for products of matrices that torch brings along."""

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from .device import processor

# Multiplications of a product; below it, calling oneDNN takes longer than what it saves.
LEAST = 2**20
# Rows that oneDNN multiplies at once. For each number of rows, and each shape of weights, it compiles code of 0.6 MB, which it
# never frees: with a number for each length of a text that was half a gigabyte.
ROWS = (2048, 512, 128, 32, 16)


class Linear(nn.Linear):
    """`torch.nn.Linear`, which outside of training takes half the time on AMD's processors with AVX-512 (`linear_map`)."""

    def forward(self, input: Float[Tensor, "*axes in"]) -> Float[Tensor, "*axes out"]:
        return linear_map(input, self.weight, self.bias)


def linear_map(
    x: Float[Tensor, "*axes in"], weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"] | None = None
) -> Float[Tensor, "*axes out"]:
    """x Wᵀ + b in the precision of `x`, as `torch.nn.functional.linear`, which sums in another order.

    torch multiplies float32 by MKL, which uses AVX-512 on Intel's processors only; oneDNN uses it on AMD's, too: 250 instead
    of 111 GFLOP/s on a core of Zen 5. Its operation has no gradient.
    """
    if (
        not torch.is_grad_enabled()
        and x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and x.numel() * len(weight) >= LEAST
        and not torch.is_autocast_enabled("cpu")
        and _onednn_is_faster()
    ):
        return _by_onednn(x.reshape(-1, x.shape[-1]), weight, bias).view(*x.shape[:-1], len(weight))
    return functional.linear(x, weight, bias)


def _by_onednn(
    x: Float[Tensor, "row in"], weight: Float[Tensor, "out in"], bias: Float[Tensor, " out"] | None
) -> Float[Tensor, "row out"]:
    """The product by oneDNN in pieces of `ROWS`; fewer rows, which are left at the end, are multiplied by MKL."""
    if len(x) in ROWS:
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    result, start = x.new_empty(len(x), len(weight)), 0
    for size in ROWS:
        while len(x) - start >= size:
            piece = slice(start, start + size)
            result[piece] = torch.ops.mkldnn._linear_pointwise(x[piece], weight, bias, "none", [], "")
            start += size
    if start < len(x):
        result[start:] = functional.linear(x[start:], weight, bias)
    return result


@cache
def _onednn_is_faster() -> bool:
    has_avx512 = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return has_avx512 and torch.backends.mkldnn.is_available() and "AuthenticAMD" in processor()
