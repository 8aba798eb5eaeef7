"""The four layer types of table 1 in "Attention Is All You Need" (Vaswani et al. 2017), and how long they take.

As in that table, attention is counted without its four linear maps: queries, keys and values are the input itself, and
there is one head. `d` is the width of every layer, `n` the length of the sequence.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from ..torch_seed import torch_seed

SELF_ATTENTION, RESTRICTED = "self-attention", "restricted self-attention"
RECURRENT, CONVOLUTIONAL = "recurrent", "convolutional"

FloatSequence = Sequence[int | float] | np.ndarray


class LayerType(NamedTuple):
    """A row of table 1 of Vaswani et al. 2017 as LaTeX, with the exponent of n and the multiply-adds of this implementation."""

    name: str
    order: str  # complexity per layer
    sequential: str  # minimum number of sequential operations
    path: str  # maximum path length: layers, or steps, between any two positions
    exponent: int  # of n in `order`
    multiply_adds: str  # formula for this implementation


LAYER_TYPES = (
    LayerType(SELF_ATTENTION, r"O(n^2 \cdot d)", "O(1)", "O(1)", 2, r"2\,n^2 d"),
    LayerType(RESTRICTED, r"O(r \cdot n \cdot d)", "O(1)", "O(n/r)", 1, r"2\,r\,n\,d"),
    LayerType(RECURRENT, r"O(n \cdot d^2)", "O(n)", "O(n)", 1, r"2\,n\,d^2"),
    LayerType(CONVOLUTIONAL, r"O(k \cdot n \cdot d^2)", "O(1)", r"O(\log_k n)", 1, r"k\,n\,d^2"),
)


def self_attention(x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """Self-attention softmax(x xᵀ / sqrt(d)) x, with all n² weights."""
    scores = x @ x.T / math.sqrt(x.shape[1])
    return scores.softmax(dim=-1) @ x


def restricted_self_attention(x: Float[Tensor, "n d"], radius: int) -> Float[Tensor, "n d"]:
    """Self-attention from each query to the r = 2 radius + 1 positions around it, with n r weights instead of n².

    The neighbourhoods share memory: a strided view of the padded input.
    """
    n, d = x.shape
    neighbours = functional.pad(x, (0, 0, radius, radius)).unfold(0, 2 * radius + 1, 1)  # [n, d, r]
    scores = torch.bmm(x[:, None], neighbours)[:, 0] / math.sqrt(d)
    positions = torch.arange(n)[:, None] + torch.arange(-radius, radius + 1)
    scores = scores.masked_fill((positions < 0) | (positions >= n), -torch.inf)  # beyond the ends
    return torch.bmm(scores.softmax(dim=-1)[:, None], neighbours.transpose(1, 2))[:, 0]


def layer_functions(d: int, *, radius: int, kernel: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """The layer types by name, each as a function from [n, d] to [n, d]; the last two have random weights.

    Raises ValueError for an even `kernel`, which would change the length.
    """
    if kernel % 2 == 0:
        raise ValueError(f"kernel must be odd, got {kernel}")
    recurrent, convolution = nn.RNN(d, d), nn.Conv1d(d, d, kernel, padding=kernel // 2)
    return {
        SELF_ATTENTION: self_attention,
        RESTRICTED: lambda x: restricted_self_attention(x, radius),
        RECURRENT: lambda x: recurrent(x)[0],
        CONVOLUTIONAL: lambda x: convolution(x.T).T,
    }


def multiply_adds(layer_type: str, n: int, d: int, *, radius: int, kernel: int) -> int:
    """Number of multiply-adds in the matrix products of a layer type, including those on padding."""
    return {
        SELF_ATTENTION: 2 * n * n * d,  # x xᵀ and pattern x
        RESTRICTED: 2 * n * (2 * radius + 1) * d,
        RECURRENT: 2 * n * d * d,  # W x_t and U h_(t-1)
        CONVOLUTIONAL: kernel * n * d * d,
    }[layer_type]


def milliseconds(
    lengths: Sequence[int],
    d: int,
    *,
    radius: int,
    kernel: int,
    rounds: int,
    progress: Callable[[float], object],
) -> dict[str, np.ndarray]:
    """Median processor time in ms of one pass of each layer type, by its name: an array with an entry for each of `lengths`.

    Processor time does not include waiting for a core that other programs use; it is complete because the layers run on
    this thread alone. Each of the `rounds` runs every type at every length once, so that a short disturbance affects only
    one of them. `progress` is called with the finished share, from 0 to 1.
    """
    with torch_seed(0):
        functions = layer_functions(d, radius=radius, kernel=kernel)
        inputs = [torch.randn(n, d) for n in lengths]
    seconds = {name: np.empty((rounds, len(inputs))) for name in functions}
    with torch.inference_mode():
        for round_number in range(-1, rounds):  # the first only warms up: its row is written over
            for index, x in enumerate(inputs):
                for name, function in functions.items():
                    start = time.thread_time()
                    function(x)
                    seconds[name][round_number, index] = time.thread_time() - start
            progress((round_number + 2) / (rounds + 1))
    return {name: 1e3 * np.median(times, axis=0) for name, times in seconds.items()}


class Fit(NamedTuple):
    """Power law n^exponent fitted to the longer half of the lengths, since fixed costs dominate the shorter half."""

    exponent: float
    error: float  # standard error of the exponent, from the residuals; NaN with fewer than three points
    lengths: np.ndarray
    values: np.ndarray


def fit_power_law(lengths: FloatSequence, values: FloatSequence) -> Fit:
    """Fits a power law to the longer half of `lengths`: ln(values) as a linear function of ln(n), by least squares."""
    first_index = len(lengths) // 2
    n = np.asarray(lengths[first_index:], dtype=float)
    x, y = np.log(n), np.log(values[first_index:])
    standard_error = np.nan
    if len(n) > 2:
        (exponent, intercept), covariance = np.polyfit(x, y, 1, cov=True)
        standard_error = float(np.sqrt(covariance[0, 0]))
    else:
        exponent, intercept = np.polyfit(x, y, 1)
    return Fit(float(exponent), standard_error, n, np.exp(intercept) * n**exponent)


def crossing_length(lengths: Sequence[int], values: FloatSequence, others: FloatSequence) -> int | None:
    """Smallest length from which on `values` exceed `others`; None if they do not at the largest length."""
    is_above = np.asarray(values) > np.asarray(others)
    if not is_above[-1]:
        return None
    return int(lengths[0 if is_above.all() else len(is_above) - int(is_above[::-1].argmin())])
