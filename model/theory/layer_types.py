"""The four kinds of layer that table 1 of "Attention Is All You Need" compares, and the time they take.

As in that table, attention is counted without its four linear maps: queries, keys and values are the input
itself, and there is one head. `d` is the width of every layer, `n` the length of the sequence.
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

Numbers = Sequence[int | float] | np.ndarray


class Kind(NamedTuple):
    """What table 1 says of a kind of layer (LaTeX), and what follows for time over length."""

    name: str
    order: str  # complexity per layer
    sequential: str  # minimum number of sequential operations
    path: str  # maximum path length: layers, or steps, between any two positions
    exponent: int  # of n in `order`
    multiply_adds: str  # formula of what is computed here


KINDS = (
    Kind(SELF_ATTENTION, r"O(n^2 \cdot d)", "O(1)", "O(1)", 2, r"2\,n^2 d"),
    Kind(RESTRICTED, r"O(r \cdot n \cdot d)", "O(1)", "O(n/r)", 1, r"2\,r\,n\,d"),
    Kind(RECURRENT, r"O(n \cdot d^2)", "O(n)", "O(n)", 1, r"2\,n\,d^2"),
    Kind(CONVOLUTIONAL, r"O(k \cdot n \cdot d^2)", "O(1)", r"O(\log_k n)", 1, r"k\,n\,d^2"),
)


def self_attention(x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
    """softmax(x xᵀ / sqrt(d)) x: all n² weights."""
    scores = x @ x.T / math.sqrt(x.shape[1])
    return scores.softmax(dim=-1) @ x


def restricted_self_attention(x: Float[Tensor, "n d"], radius: int) -> Float[Tensor, "n d"]:
    """The same over the r = 2 radius + 1 positions around each query: n r weights, never n².

    The neighbourhoods overlap in memory: a view of the padded input, moved on by one position a query.
    """
    n, d = x.shape
    neighbours = functional.pad(x, (0, 0, radius, radius)).unfold(0, 2 * radius + 1, 1)  # [n, d, r]
    scores = torch.bmm(x[:, None], neighbours)[:, 0] / math.sqrt(d)
    place = torch.arange(n)[:, None] + torch.arange(-radius, radius + 1)
    scores = scores.masked_fill((place < 0) | (place >= n), -torch.inf)  # beyond the ends
    return torch.bmm(scores.softmax(dim=-1)[:, None], neighbours.transpose(1, 2))[:, 0]


def layers(d: int, *, radius: int, kernel: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """Each kind as a function from [n, d] to [n, d]; the last two with random weights.

    Raises ValueError for an even `kernel`, with which the length would change.
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


def multiply_adds(kind: str, n: int, d: int, *, radius: int, kernel: int) -> int:
    """Of the matrix products of one kind; what lies in the padding is computed, and so counted, as well."""
    return {
        SELF_ATTENTION: 2 * n * n * d,  # x xᵀ and pattern x
        RESTRICTED: 2 * n * (2 * radius + 1) * d,
        RECURRENT: 2 * n * d * d,  # W x_t and U h_(t-1)
        CONVOLUTIONAL: kernel * n * d * d,
    }[kind]


def milliseconds(
    lengths: Sequence[int],
    d: int,
    *,
    radius: int,
    kernel: int,
    rounds: int,
    progress: Callable[[float], object],
) -> dict[str, np.ndarray]:
    """Median processor time [length] of one pass of each kind over random input, on the calling thread.

    Processor time leaves out the waiting while other programs have the core; everything computes on this one
    thread, or it would leave out work as well. Each round runs every kind at every length once, so that what
    disturbs the machine for a moment spoils one run of each rather than all runs of one. `progress` is told
    the share that is done.
    """
    with torch_seed(0):
        functions = layers(d, radius=radius, kernel=kernel)
        inputs = [torch.randn(n, d) for n in lengths]
    taken = {name: np.empty((rounds, len(inputs))) for name in functions}
    with torch.inference_mode():
        for turn in range(-1, rounds):  # the first only warms up: its row is written over
            for at, x in enumerate(inputs):
                for name, function in functions.items():
                    start = time.thread_time()
                    function(x)
                    taken[name][turn, at] = time.thread_time() - start
            progress((turn + 2) / (rounds + 1))
    return {name: 1e3 * np.median(times, axis=0) for name, times in taken.items()}


class Fit(NamedTuple):
    """A power law n^exponent through the longer half of the measured lengths: shorter ones show fixed costs."""

    exponent: float
    error: float  # standard error of the exponent, from how far the points lie off the line; NaN with fewer than three
    lengths: np.ndarray
    values: np.ndarray


def fit(lengths: Numbers, values: Numbers) -> Fit:
    """Least squares of ln(values) on ln(n)."""
    half = len(lengths) // 2
    n = np.asarray(lengths[half:], dtype=float)
    x, y = np.log(n), np.log(values[half:])
    error = np.nan
    if len(n) > 2:
        (exponent, intercept), covariance = np.polyfit(x, y, 1, cov=True)
        error = float(np.sqrt(covariance[0, 0]))
    else:
        exponent, intercept = np.polyfit(x, y, 1)
    return Fit(float(exponent), error, n, np.exp(intercept) * n**exponent)


def overtaken(lengths: Sequence[int], values: Numbers, others: Numbers) -> int | None:
    """The shortest length from which on `values` are above `others`; None where they are not at the end."""
    above = np.asarray(values) > np.asarray(others)
    if not above[-1]:
        return None
    return int(lengths[0 if above.all() else len(above) - int(above[::-1].argmin())])
