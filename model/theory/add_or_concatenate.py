"""Compares adding position vectors to content with concatenating the two.

A product with a matrix W is then Concat[X, P] W = X W1 + P W2, where W consists of W1 above W2.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..transformer import Transformer


class PositionSums(NamedTuple):
    """Products of content and positions with the two halves of W, and how far sums of these differ from Concat[X, P] W."""

    content: Float[np.ndarray, "position d_out"]  # X W1
    positions: Float[np.ndarray, "position d_out"]  # P W2
    whole: Float[np.ndarray, "position d_out"]  # Concat[X, P] W, one product
    largest: float  # max |Concat[X, P] W|
    from_sum: float  # max |Concat[X, P] W - (X W1 + P W2)|: rounding alone
    from_adding: float  # max |Concat[X, P] W - (X + P) W1|: rounding alone where W1 = W2


def position_sums(
    x: Float[np.ndarray, "position d_model"],
    p: Float[np.ndarray, "position d_model"],
    w1: Float[np.ndarray, "d_model d_out"],
    w2: Float[np.ndarray, "d_model d_out"],
) -> PositionSums:
    """Computes Concat[X, P] W as one product and as X W1 + P W2; if W1 = W2, it equals (X + P) W1, the product for adding."""
    content, positions = x @ w1, p @ w2
    product = np.concatenate((x, p), axis=1) @ np.concatenate((w1, w2))
    largest_values = (
        np.abs(values).max() for values in (product, product - (content + positions), product - (x + p) @ w1)
    )
    return PositionSums(content, positions, product, *map(float, largest_values))


def query_key_weights(
    model: Transformer, layer: int, head: int
) -> tuple[Float[np.ndarray, "d_model d_k"], Float[np.ndarray, "d_model d_k"]]:
    """W_Q and W_K of one head: its query is x W_Q plus a bias, and its key x W_K plus a bias, for an attention input x."""
    attention = model.blocks[layer].attention
    columns = slice(head * model.config.d_k, (head + 1) * model.config.d_k)
    w_q, w_k = (
        projection.weight.detach().cpu().numpy()[columns].T for projection in (attention.w_q, attention.w_k)
    )
    return w_q, w_k
