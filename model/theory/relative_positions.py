"""Relative positions: rotated vectors (RoPE), biases on the scores (ALiBi, T5) and attention windows, computed in numpy."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float64, Int64

from ..parts.relative_bias import bucket_of_offset

FURTHEST = 128  # tokens, as T5 has it: all that are further apart share a bucket


def rotary_frequencies(width: int, base: float) -> Float64[np.ndarray, " pair"]:
    """Frequency of each pair i of components of a query or key, in radians per position: base^(−2i/width) (Su et al. 2021, 3.2.2)."""
    return base ** (-np.arange(0, width, 2) / width)


def rotated(
    vector: Float64[np.ndarray, " width"], position: int, base: float
) -> Float64[np.ndarray, " width"]:
    """The vector with each pair of components 2i and 2i + 1 rotated by the position times the pair's frequency."""
    angle = rotary_frequencies(len(vector), base) * position
    turned = (vector[::2] + 1j * vector[1::2]) * np.exp(1j * angle)
    return turned.view(float)


def rotary_score(offsets: np.ndarray, width: int, base: float) -> Float64[np.ndarray, "pair offset"]:
    """What each pair of components adds to the score if it is the same unit vector in query and key: cos(ω φ) at offset φ."""
    return np.cos(rotary_frequencies(width, base)[:, None] * offsets)


def moved_scores(
    positions: Sequence[int], offset: int, width: int, base: float
) -> Float64[np.ndarray, " position"]:
    """The score q·k of two vectors of ones, rotated, with the query at each of `positions` and the key `offset` positions later."""
    ones = np.ones(width)
    return np.array(
        [rotated(ones, t, base) @ rotated(ones, t + offset, base) for t in positions], dtype=np.float64
    )


def alibi_slopes(n_heads: int) -> Float64[np.ndarray, " head"]:
    """The slope m of each head, 2^(−8h/n) for h from 1 to n; the bias is −m times the distance (Press et al. 2022, section 3)."""
    return 2.0 ** (-8 * np.arange(1, n_heads + 1) / n_heads)


def t5_buckets(furthest_offset: int, n_buckets: int = 32) -> Int64[np.ndarray, " offset"]:
    """T5's bucket of each offset (key minus query) from −`furthest_offset` to `furthest_offset` (Raffel et al. 2020, 2.1)."""
    return bucket_of_offset(torch.arange(-furthest_offset, furthest_offset + 1), n_buckets, FURTHEST).numpy()


def reach(n_layers: int, radius: int, every: int) -> Float64[np.ndarray, " layer"]:
    """The largest distance, in positions, from which a token's state after each layer can depend; infinite from a global layer on.

    Layers 0, `every`, 2·`every`, … attend to all positions, the others to keys at most `radius` away; with `every` = 0, all
    layers are local.
    """
    layers = np.arange(n_layers)
    is_global = layers % every == 0 if every else np.zeros(n_layers, bool)
    return np.where(is_global, np.inf, radius).cumsum()
