"""Why scores are divided by sqrt(d_k): the variance of dot products and its effect on the softmax.

Vaswani et al. 2017, 3.2.1 and footnote 4: with independent components of mean 0 and variance 1,
q·k = sum_i q_i k_i has mean 0 and variance d_k, and "for large values of d_k, the dot products grow large in
magnitude, pushing the softmax function into regions where it has extremely small gradients".
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float

from ..measures.head_measures import entropy
from ..transformer import masked_softmax

N_SETS, N_QUERIES, N_KEYS = 100, 10, 64  # sets of random keys, queries for each set, keys in each set
EVEN_GRADIENT = (N_KEYS - 1) ** 0.5 / N_KEYS  # `gradient_norm` of equal weights


def dot_products(d_k: int, *, seed: int = 0) -> Float[np.ndarray, "set query key"]:
    """Unscaled dot products q·k of random vectors with `d_k` independent standard normal components."""
    rng = np.random.default_rng((seed, d_k))
    q = rng.standard_normal((N_SETS, N_QUERIES, d_k))
    k = rng.standard_normal((N_SETS, N_KEYS, d_k))
    return q @ k.swapaxes(-2, -1)


def variance(d_k: int, power: float) -> float:
    """Variance of d_k^(-power) q·k, if the components of q and k are independent with variance 1."""
    return float(d_k) ** (1 - 2 * power)


def axis_limit(variance: float, products: Float[np.ndarray, " pair"] | None = None) -> float:
    """Upper limit for the axis of a distribution: 3.5 standard deviations, or more if some `products` lie beyond."""
    limit = 3.5 * variance**0.5
    return limit if products is None else 1.05 * max(float(np.abs(products).max(initial=0)), limit)


def softmax(
    scores: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "..."] | None = None
) -> Float[np.ndarray, "*axes query key"]:
    """Softmax over the keys that the mask allows, computed like the encoder's."""
    allowed = None if mask is None else torch.tensor(mask)
    return masked_softmax(torch.tensor(scores), allowed).numpy()


def gradient_norm(pattern: Float[np.ndarray, "*axes query key"]) -> Float[np.ndarray, "*axes query"]:
    """Frobenius norm of the Jacobian of softmax, da/ds = diag(a) - a aᵀ, for each row a of `pattern`.

    It is 0 for hard attention, sqrt(n - 1) / n for n equal weights, and at most 1/2, for two keys with half of the weight
    each.
    """
    squares = np.square(pattern, dtype=np.float64)
    # The diagonal a_i (1 - a_i) and the rest -a_i a_j, each squared and summed: nothing cancels near 0.
    squared_diagonal = squares * np.square(1 - pattern, dtype=np.float64)
    off_diagonal = squares * np.maximum(squares.sum(axis=-1, keepdims=True) - squares, 0)
    return np.sqrt((squared_diagonal + off_diagonal).sum(axis=-1))


def score_statistics(
    products: Float[np.ndarray, "*axes query key"],
    factor: float,
    mask: Bool[np.ndarray, "*axes query key"] | None = None,
) -> dict[str, float]:
    """Statistics, by name, of the scores `factor` q·k over all allowed pairs, and of their softmax.

    They are `mean` and `variance` of the scores, the mean `entropy` (0: one key, 1: equal weights), and of the gradient
    norm over the queries the median and the quartiles (`gradient`, `gradient_low`, `gradient_high`).
    """
    mask = np.ones(products.shape, bool) if mask is None else mask
    scores = products * factor
    pattern = softmax(scores, mask)
    lower_quartile, median, upper_quartile = np.quantile(gradient_norm(pattern), [0.25, 0.5, 0.75])
    return {
        "mean": float(scores[mask].mean()),
        "variance": float(scores[mask].var()),
        "entropy": float(entropy(pattern, mask).mean()),
        "gradient": float(median),
        "gradient_low": float(lower_quartile),
        "gradient_high": float(upper_quartile),
    }


def spread_by_width(widths: Iterable[int], powers: Iterable[float]) -> pd.DataFrame:
    """Statistics (`score_statistics`) of random dot products times d_k^(-power), one row for each `d_k` and `power`.

    The variance should be d_k^(1 - 2 power), so it stays 1 only for the power 1/2.
    """
    powers = list(powers)
    rows = []
    for d_k in widths:
        products = dot_products(d_k)
        for power in powers:
            rows.append({"d_k": d_k, "power": power} | score_statistics(products, d_k**-power))
    return pd.DataFrame(rows)


def head_spreads(
    q: Float[np.ndarray, "layer head query d_k"],
    k: Float[np.ndarray, "layer head key d_k"],
    mask: Bool[np.ndarray, "layer head query key"],
) -> pd.DataFrame:
    """Statistics of each head's scores, with and without the factor 1/sqrt(d_k), one row per head.

    `mean` and `variance` are those of the unscaled q·k. Entropy and median gradient norm of the softmax are given for
    scaled scores (`entropy`, `gradient`) and for unscaled ones (`entropy_unscaled`, `gradient_unscaled`).
    """
    rows = []
    for layer, head in np.ndindex(*q.shape[:2]):  # one at a time: all heads of a long text would be large
        products = head_products(q[layer, head], k[layer, head])
        unscaled = score_statistics(products, 1.0, mask[layer, head])
        scaled = score_statistics(products, q.shape[-1] ** -0.5, mask[layer, head])
        rows.append(
            {"layer": layer, "head": head, "mean": unscaled["mean"], "variance": unscaled["variance"]}
            | {name: scaled[name] for name in ("entropy", "gradient")}
            | {f"{name}_unscaled": unscaled[name] for name in ("entropy", "gradient")}
        )
    return pd.DataFrame(rows)


def head_products(
    q: Float[np.ndarray, "query d_k"], k: Float[np.ndarray, "key d_k"]
) -> Float[np.ndarray, "query key"]:
    """Unscaled dot products q·k of one head, in double precision."""
    return q.astype(np.float64) @ k.astype(np.float64).T
