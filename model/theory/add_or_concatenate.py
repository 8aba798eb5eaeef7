"""Adding positions against concatenating them: Concat[X, P] W = X W1 + P W2, with W1 stacked on W2 as W."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..transformer import Transformer


class Sums(NamedTuple):
    """Content and positions through their halves of W, and by how much two other ways differ from one product."""

    content: Float[np.ndarray, "position d_out"]  # X W1
    positions: Float[np.ndarray, "position d_out"]  # P W2
    whole: Float[np.ndarray, "position d_out"]  # Concat[X, P] W, one product
    largest: float  # max |Concat[X, P] W|
    from_sum: float  # max |Concat[X, P] W - (X W1 + P W2)|: rounding
    from_adding: float  # max |Concat[X, P] W - (X + P) W1|: rounding where W1 = W2


def sums(
    x: Float[np.ndarray, "position d_model"],
    p: Float[np.ndarray, "position d_model"],
    w1: Float[np.ndarray, "d_model d_out"],
    w2: Float[np.ndarray, "d_model d_out"],
) -> Sums:
    """With W1 = W2, Concat[X, P] W is (X + P) W1: adding is concatenating with tied weights."""
    content, positions = x @ w1, p @ w2
    whole = np.concatenate((x, p), axis=1) @ np.concatenate((w1, w2))
    sizes = (np.abs(each).max() for each in (whole, whole - (content + positions), whole - (x + p) @ w1))
    return Sums(content, positions, whole, *map(float, sizes))


def query_key_weights(
    model: Transformer, layer: int, head: int
) -> tuple[Float[np.ndarray, "d_model d_k"], Float[np.ndarray, "d_model d_k"]]:
    """W_Q and W_K of one head, so that its q is x W_Q plus a bias, x being what its attention reads."""
    attention = model.blocks[layer].attention
    of_head = slice(head * attention.d_k, (head + 1) * attention.d_k)
    w_q, w_k = (part.weight.detach().cpu().numpy()[of_head].T for part in (attention.w_q, attention.w_k))
    return w_q, w_k
