"""Measures of a head, from its pattern [..., query, key] and mask: every number that a page shows.

Formulas, sources and cautions stand in each docstring.
"""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from ..record import AttentionRecord

ROUNDING = 1e-2  # of what a row adds up to: half precision, over many keys


def summary(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """By the names on screen: the `mean_entropy`, and `mean_distance` in tokens, words or patches.

    Both are of rows that sum to 1. Where a row does not, they are left out, and what the rows add up to stands in their
    place; a distance between the positions of two inputs there is none.
    """
    if len(odd_rows(record.pattern, record.mask)):
        return {"sum of a row (mean over queries)": sums(record.pattern).mean(axis=-1)}
    if record.keys is not None:
        return {"entropy": mean_entropy(record.pattern, record.mask)}
    return {
        "entropy": mean_entropy(record.pattern, record.mask),
        f"mean distance ({record.units})": mean_distance(record.pattern, record.patch_grid),
    }


def entropy(
    pattern: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes query"]:
    """H_i / ln n_i with H_i = -sum_j A_ij ln A_ij in nats and n_i the number of keys that i may attend to.

    From 0 (one key) to 1 (all allowed keys alike); 0 where a query has one allowed key or none.
    """
    logs = np.maximum(pattern, np.finfo(pattern.dtype).tiny)  # 0 ln 0 is 0
    np.log(logs, out=logs)
    n_allowed = allowed_keys(mask)
    nats = 0 - np.einsum("...k,...k->...", pattern, logs)  # never -0
    return np.where(n_allowed > 1, nats / np.log(np.maximum(n_allowed, 2)), 0)


def allowed_keys(mask: Bool[np.ndarray, "*axes query key"]) -> Int[np.ndarray, "*some query_or_one"]:
    """n_i, how many keys each query may attend to, of a shape that broadcasts to `mask` without its last axis.

    An axis along which the mask merely repeats itself (stride 0, as where all may see all) is gone through once.
    """
    once = mask[tuple(slice(None if stride else 1) for stride in mask.strides)]
    return np.count_nonzero(once, axis=-1) * (mask.shape[-1] if once.shape[-1] < mask.shape[-1] else 1)


def mean_entropy(
    pattern: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes"]:
    """`entropy`, from 0 to 1, as a mean over the queries."""
    return entropy(pattern, mask).mean(axis=-1)


def sums(weights: Float[np.ndarray, "*axes key"]) -> Float[np.ndarray, "*axes"]:
    """What the weights of each query add up to: 1, or less where some of them were taken away."""
    return np.asarray(weights.sum(axis=-1))


def odd_rows(
    pattern: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, " row"]:
    """What those rows add up to that do not sum to 1; a row that may attend to nothing is none of them."""
    found = sums(pattern)[mask.any(axis=-1)]
    return found[np.abs(found - 1) > ROUNDING]


def normaliser(scores: Float[np.ndarray, "*axes key"]) -> Float[np.ndarray, "*axes"]:
    """Z = sum_j e^(s_j), by which the softmax divides; of scores all of which are allowed."""
    return np.asarray(np.exp(scores.astype(float)).sum(axis=-1))


def over_heads(
    weights: Float[np.ndarray, "head ..."], how: Literal["mean", "maximum"] = "mean"
) -> Float[np.ndarray, "..."]:
    """The mean over heads, each counted alike, whose rows add up to 1 again; or of each cell the largest weight."""
    return weights.mean(axis=0) if how == "mean" else weights.max(axis=0)


def distances(n: int, patch_grid: tuple[int, int] | None = None) -> Float[np.ndarray, "query key"]:
    """How far apart two positions are: |i - j| for text, Euclidean on the grid (in patches) for patches.

    With a grid, n = rows * columns + 1 means that a class token stands first; it has no place, hence NaN.
    """
    if patch_grid is None:
        place = np.arange(n, dtype=np.float64)[:, None]
    else:
        place = np.stack(np.unravel_index(np.arange(np.prod(patch_grid)), patch_grid), axis=-1).astype(float)
        without_place = np.full((n - len(place), 2), np.nan)
        place = np.concatenate((without_place, place))
    return np.linalg.norm(place[:, None] - place, axis=-1)


def mean_distance(
    pattern: Float[np.ndarray, "*axes query key"], patch_grid: tuple[int, int] | None = None
) -> Float[np.ndarray, "*axes"]:
    """mean_i sum_j A_ij dist(i, j): in tokens for text, in patches for patches.

    The class token of patches has no place: it is left out as query and as key. What a query gives to
    it counts as no distance, so a head that looks at the class token alone has mean distance 0.
    """
    n = pattern.shape[-1]
    dist = distances(n, patch_grid)
    n_placed = np.count_nonzero(~np.isnan(np.diagonal(dist)))
    flat = (
        np.nan_to_num(dist).astype(pattern.dtype).ravel()
    )  # one product of a matrix and a vector for all heads
    return pattern.reshape(*pattern.shape[:-2], n * n) @ flat / n_placed


def head_distance(
    one: Float[np.ndarray, "query key"], others: Float[np.ndarray, "head query key"]
) -> Float[np.ndarray, " head"]:
    """mean_i JSD(A'_i, B'_i) in nats, A' = 0.999 A + 0.001 / n: from 0 (alike) to ln 2 (no key in common).

    Between one head and each of many, whose rows must sum to 1. Clark et al. 2019, section 6; they sum over
    the rows, the mean lets inputs of different lengths compare. Without the 0.001 of uniform attention a
    divergence would hang on weights that are zero but for rounding.
    """
    a, b = (0.999 * pattern + 0.001 / one.shape[-1] for pattern in (one, others))
    divergence = _nats((a + b) / 2) - (_nats(a) + _nats(b)) / 2
    return np.maximum(divergence, 0).mean(axis=-1)  # rounding can take equal rows below 0


def _nats(rows: Float[np.ndarray, "*axes key"]) -> Float[np.ndarray, "*axes"]:
    """-sum_j p_j ln p_j, for p_j > 0."""
    return -np.einsum("...k,...k->...", rows, np.log(rows))
