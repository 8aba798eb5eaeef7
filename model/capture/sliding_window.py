"""The attention of Longformer and of LED's encoder, whose columns are distances within a window, as [head, query, key]."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def between_positions(
    weights: Float[Tensor, "head query column"],
    window: int,
    global_weights: Float[Tensor, "head position global"] | None,
    is_read: Bool[Tensor, " query"],
) -> Float[Tensor, "head query key"]:
    """The weights of one layer between all positions; they are 0 outside of the window.

    The last `window` + 1 columns are the keys from `window` / 2 positions before the query to as many behind it, and the
    columns before those are the keys of global attention. Queries of global attention have no weights in these columns, but
    in `global_weights`, one column for each of them. `is_read` is False at padding. Raises ValueError where the columns
    do not fit the window.
    """
    n_heads, n, n_columns = weights.shape
    n_global = n_columns - window - 1
    # whose rows are empty, and which are no padding
    is_global = is_read & (weights == 0).all(dim=-1).all(dim=0)
    if n_global < 0 or int(is_global.sum()) != n_global or (n_global > 0) != (global_weights is not None):
        raise ValueError(f"{n_columns} columns of weights do not fit a window of {window}")
    query = torch.arange(n, device=weights.device)[:, None]
    wide = weights.new_zeros(n_heads, n, n + window)
    wide[:, query, query + torch.arange(window + 1, device=weights.device)] = weights[..., n_global:]
    pattern = wide[..., window // 2 : window // 2 + n].clone()
    if global_weights is not None:
        pattern[..., is_global] += weights[..., :n_global]
        pattern[:, is_global] = global_weights[:, :n].transpose(1, 2)
    return pattern
