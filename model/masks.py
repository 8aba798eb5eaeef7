"""Masks: boolean tensors, True where a query may attend to a key.

An encoder takes a mask of shape [query, key], or any that broadcasts to [batch, layer, head, query, key].
"""

from collections.abc import Iterable

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def key_padding(tokens: Int[Tensor, "batch key"], padding_id: int) -> Bool[Tensor, "batch 1 1 1 key"]:
    """Nobody attends to padding."""
    return (tokens != padding_id)[:, None, None, None, :]


def causal(n: int) -> Bool[Tensor, "query key"]:
    """A position sees itself and what stands before it."""
    return torch.ones(n, n, dtype=torch.bool).tril()


def local_window(n: int, radius: int) -> Bool[Tensor, "query key"]:
    """A token sees the tokens at most `radius` places away."""
    place = torch.arange(n)
    return (place[:, None] - place).abs() <= radius


def patch_window(grid: tuple[int, int], radius: int, n_before: int) -> Bool[Tensor, "query key"]:
    """A patch sees the patches at most `radius` rows and columns away.

    The `n_before` positions before the patches, such as the class token, see all and are seen by all.
    """
    row, column = torch.meshgrid(*map(torch.arange, grid), indexing="ij")
    row, column = row.flatten(), column.flatten()
    rows_near = (row[:, None] - row).abs() <= radius
    near = rows_near & ((column[:, None] - column).abs() <= radius)
    return torch.nn.functional.pad(near, (n_before, 0, n_before, 0), value=True)


def blocked_keys(n: int, keys: Iterable[int]) -> Bool[Tensor, "query key"]:
    """No query may attend to any of `keys`; these still attend to the others."""
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[:, list(keys)] = False
    return mask


def blocked_cells(n: int, cells: Iterable[tuple[int, int]]) -> Bool[Tensor, "query key"]:
    """Each of `cells` forbids one query one key."""
    mask = torch.ones(n, n, dtype=torch.bool)
    for query, key in cells:
        mask[query, key] = False
    return mask


def within(
    mask: Bool[Tensor, "query key"], n_layers: int, n_heads: int, layers: Iterable[int], heads: Iterable[int]
) -> Bool[Tensor, "layer head query key"]:
    """The mask in these `heads` of these `layers`; everywhere else all may attend to all."""
    held = torch.zeros(n_layers, n_heads, 1, 1, dtype=torch.bool)
    held[torch.tensor(list(layers), dtype=torch.long)[:, None], list(heads)] = True
    return mask | ~held
