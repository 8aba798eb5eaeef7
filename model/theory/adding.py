"""Adding positions against concatenating them: Concat[X, P] W = X W1 + P W2, with W1 stacked on W2 as W."""

import numpy as np
from jaxtyping import Float

from model.transformer import Transformer


def concatenated(
    x: Float[np.ndarray, "position d_model"],
    p: Float[np.ndarray, "position d_position"],
    w1: Float[np.ndarray, "d_model d_out"],
    w2: Float[np.ndarray, "d_position d_out"],
) -> Float[np.ndarray, "position d_out"]:
    """One product: [X | P] of [position, d_model + d_position] times W of as many rows."""
    return np.concatenate((x, p), axis=1) @ np.concatenate((w1, w2))


def summed(
    x: Float[np.ndarray, "position d_model"],
    p: Float[np.ndarray, "position d_position"],
    w1: Float[np.ndarray, "d_model d_out"],
    w2: Float[np.ndarray, "d_position d_out"],
) -> Float[np.ndarray, "position d_out"]:
    """Two products, added. With W1 = W2 they are one: (X + P) W1, so that adding is concatenating with tied weights."""
    return x @ w1 + p @ w2


def query_key_weights(
    model: Transformer, layer: int, head: int
) -> tuple[Float[np.ndarray, "d_model d_k"], Float[np.ndarray, "d_model d_k"]]:
    """W_Q and W_K of one head, so that its q is x W_Q plus a bias, x being what its attention reads."""
    attention = model.blocks[layer].attention
    of_head = slice(head * attention.d_k, (head + 1) * attention.d_k)
    w_q, w_k = (part.weight.detach().cpu().numpy()[of_head].T for part in (attention.w_q, attention.w_k))
    return w_q, w_k
