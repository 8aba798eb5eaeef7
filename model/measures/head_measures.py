"""Measures of attention heads, computed from patterns [..., query, key] and masks."""

from functools import lru_cache
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from ..record import AttentionRecord

ROUNDING = 1e-2  # tolerance for the sum of a row: half precision, over many keys


def head_summary(record: AttentionRecord) -> dict[str, Float[np.ndarray, "layer head"]]:
    """Mean entropy (0 to 1) and mean attention distance of every head, by their names on screen.

    The distance is in tokens, words or patches; it is missing if queries and keys belong to different inputs. If some rows
    do not sum to 1, only the mean sum of a row is returned.
    """
    if len(odd_rows(record.pattern, record.mask)):
        return {"sum of a row (mean over queries)": weight_sums(record.pattern).mean(axis=-1)}
    if record.keys is not None:
        return {"entropy": mean_entropy(record.pattern, record.mask)}
    return {
        "entropy": mean_entropy(record.pattern, record.mask),
        f"mean distance ({record.units})": mean_distance(
            record.pattern, record.patch_grid, record.first_patch
        ),
    }


def entropy(
    pattern: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes query"]:
    """Normalised entropy H_i / ln n_i of each row i: H_i = -sum_j A_ij ln A_ij in nats, and n_i is the number of allowed keys.

    It is from 0 (all weight on one key) to 1 (equal weight on all allowed keys), and 0 for a query with at most one allowed
    key.
    """
    # layer by layer: the logarithms of all weights would take as much memory as the weights
    if pattern.ndim > 3:
        return np.array([entropy(*layer) for layer in zip(pattern, mask, strict=True)])
    logs = np.maximum(pattern, np.finfo(pattern.dtype).tiny)  # 0 ln 0 is 0
    np.log(logs, out=logs)
    n_allowed = n_allowed_keys(mask)
    entropy_in_nats = 0 - np.einsum("...k,...k->...", pattern, logs)  # never -0
    return np.where(n_allowed > 1, entropy_in_nats / np.log(np.maximum(n_allowed, 2)), 0)


def n_allowed_keys(mask: Bool[np.ndarray, "*axes query key"]) -> Int[np.ndarray, "*some query_or_one"]:
    """Number of keys to which each query may attend; the result broadcasts to the shape of `mask` without its last axis.

    Axes along which the mask is broadcast (stride 0) have length 1.
    """
    distinct_mask = mask[tuple(slice(None if stride else 1) for stride in mask.strides)]
    return np.count_nonzero(distinct_mask, axis=-1) * (
        mask.shape[-1] if distinct_mask.shape[-1] < mask.shape[-1] else 1
    )


def mean_entropy(
    pattern: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes"]:
    """Normalised entropy (`entropy`), from 0 to 1, averaged over the queries."""
    return entropy(pattern, mask).mean(axis=-1)


def weight_sums(weights: Float[np.ndarray, "*axes key"]) -> Float[np.ndarray, "*axes"]:
    """Sum of each row of weights: 1, or less if some weights have been removed."""
    return np.asarray(weights.sum(axis=-1))


def odd_rows(
    pattern: Float[np.ndarray, "*axes query key"], mask: Bool[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, " row"]:
    """Sums of those rows of the pattern that do not sum to 1; rows of queries that may attend to no key are ignored."""
    row_sums = weight_sums(pattern)[mask.any(axis=-1)]
    return row_sums[np.abs(row_sums - 1) > ROUNDING]


def softmax_normaliser(scores: Float[np.ndarray, "*axes key"]) -> Float[np.ndarray, "*axes"]:
    """Denominator Z = sum_j e^(s_j) of the softmax of each row of scores, with no key masked."""
    return np.asarray(np.exp(scores.astype(float)).sum(axis=-1))


def combine_heads(
    weights: Float[np.ndarray, "head ..."], how: Literal["mean", "maximum"] = "mean"
) -> Float[np.ndarray, "..."]:
    """One map from many heads: the mean over the heads, or the maximum over the heads in each cell, by `how`.

    Raises ValueError for another `how`.
    """
    if how not in ("mean", "maximum"):
        raise ValueError(f"heads are combined by their 'mean' or 'maximum', got {how!r}")
    return weights.mean(axis=0) if how == "mean" else weights.max(axis=0)


def position_distances(
    n: int, patch_grid: tuple[int, int] | None = None, first_patch: int | None = None
) -> Float[np.ndarray, "query key"]:
    """Distance of every pair of positions: |i - j| in tokens for text; Euclidean, in patches, on a grid.

    Positions before and after the patches of a grid, such as a class token, have no coordinates; their distances are NaN.
    Without `first_patch`, the patches are the last positions.
    """
    if patch_grid is None:
        coordinates = np.arange(n, dtype=np.float64)[:, None]
    else:
        n_patches = patch_grid[0] * patch_grid[1]
        first = n - n_patches if first_patch is None else first_patch
        coordinates = np.full((n, 2), np.nan)
        coordinates[first : first + n_patches] = list(np.ndindex(patch_grid))
    return np.linalg.norm(coordinates[:, None] - coordinates, axis=-1)


def mean_distance(
    pattern: Float[np.ndarray, "*axes query key"],
    patch_grid: tuple[int, int] | None = None,
    first_patch: int | None = None,
) -> Float[np.ndarray, "*axes"]:
    """Mean attention distance of each head, mean_i sum_j A_ij dist(i, j), in tokens for text and patches for pictures.

    The class token of a picture has no coordinates and is left out as a query. Weight on it counts as distance 0,
    so a head that attends to the class token alone has mean distance 0.
    """
    n = pattern.shape[-1]
    distances, n_with_coordinates = _flat_distances(n, patch_grid, first_patch, pattern.dtype)
    # one product of a matrix and a vector for all heads
    return pattern.reshape(*pattern.shape[:-2], n * n) @ distances / n_with_coordinates


# pages ask for one head after another, and of many patches it takes as long as their mean
@lru_cache(maxsize=4)
def _flat_distances(
    n: int, patch_grid: tuple[int, int] | None, first_patch: int | None, dtype: np.dtype
) -> tuple[Float[np.ndarray, " query_key"], int]:
    """Distances of all pairs of `n` positions, 0 where one has no coordinates; and how many positions have coordinates."""
    distances = position_distances(n, patch_grid, first_patch)
    n_with_coordinates = int(np.count_nonzero(~np.isnan(np.diagonal(distances))))
    flat_distances = np.nan_to_num(distances).astype(dtype).ravel()
    flat_distances.setflags(write=False)
    return flat_distances, n_with_coordinates


def head_distance(
    head: Float[np.ndarray, "query key"], others: Float[np.ndarray, "head query key"]
) -> Float[np.ndarray, " head"]:
    """Jensen-Shannon divergence, in nats, between one head and each of `others`, averaged over the queries.

    It is mean_i JSD(A'_i, B'_i) with A' = 0.999 A + 0.001 / n, from 0 (equal patterns) to ln 2 (no key in common). Rows
    must sum to 1. Clark et al. 2019 (section 6) sum over the rows; the mean makes inputs of different lengths comparable.
    Without the 0.001 of uniform attention the divergence would depend on weights that are zero but for rounding.
    """
    a, b = (0.999 * pattern + 0.001 / head.shape[-1] for pattern in (head, others))
    divergence = _entropy_in_nats((a + b) / 2) - (_entropy_in_nats(a) + _entropy_in_nats(b)) / 2
    return np.maximum(divergence, 0).mean(axis=-1)  # rounding can take equal rows below 0


def _entropy_in_nats(probabilities: Float[np.ndarray, "*axes key"]) -> Float[np.ndarray, "*axes"]:
    """Entropy of each row in nats, -sum_j p_j ln p_j, for p_j > 0."""
    return -np.einsum("...k,...k->...", probabilities, np.log(probabilities))
