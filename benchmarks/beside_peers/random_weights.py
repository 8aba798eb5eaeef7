"""Random attention weights, the same on both sides; a size is "layers x heads x tokens", such as "6x12x128"."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:  # the peers' environment has not what it needs
    from loupe import AttentionRecord


def random_weights(size: str) -> np.ndarray:
    """Random attention weights [layer, head, query, key] of this size."""
    layers, heads, n = map(int, size.split("x"))
    return np.random.default_rng(0).dirichlet(np.full(n, 0.1), (layers, heads, n)).astype(np.float32)


def words(n: int) -> list[str]:
    """`n` different tokens."""
    return [f"word{number}" for number in range(n)]


def random_record(size: str) -> "AttentionRecord":
    """A record with random attention weights of this size."""
    from loupe import from_arrays

    weights = random_weights(size)
    return from_arrays(weights, words(weights.shape[-1]))
