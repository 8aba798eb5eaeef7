"""Masks: boolean tensors, True where a query may attend to a key."""

from collections.abc import Iterable

import torch
from jaxtyping import Bool
from torch import Tensor

Mask = Bool[Tensor, "..."]  # [query, key], or any that broadcasts to [batch, layer, head, query, key]
FullMask = Bool[Tensor, "#batch layer #head #query #key"]
LayerMask = Bool[Tensor, "#batch #head #query #key"]


def real_positions(inputs: Tensor, padding_id: int | None) -> Bool[Tensor, "batch position"] | None:
    """True where a token is no padding; None without any padding, since a forward without a mask takes a fifth less time."""
    if padding_id is None:
        return None
    real = inputs != padding_id
    return None if real.all() else real


def combine(
    mask: Mask | None, real: Bool[Tensor, "batch key"] | None, shape: tuple[int, int, int, int, int]
) -> FullMask | None:
    """The mask and the real keys of the inputs in one mask; None where both are None.

    `shape` is [batch, layer, head, query, key]. Raises ValueError for a mask that does not broadcast to it.
    """
    allowed = None if real is None else real[:, None, None, None, :]
    if mask is not None:
        try:
            mask.expand(shape)  # a view: nothing is copied
        except RuntimeError as error:
            axes = "[batch, layer, head, query, key]"
            raise ValueError(
                f"a mask of {tuple(mask.shape)} does not broadcast to {axes} = {shape}"
            ) from error
        mask = mask[(None,) * (5 - mask.ndim)]
        allowed = mask if allowed is None else mask & allowed
    return None if allowed is None else allowed.expand(-1, shape[1], -1, -1, -1)


def causal(n: int) -> Bool[Tensor, "query key"]:
    """Each position attends to itself and to those before it."""
    return torch.ones(n, n, dtype=torch.bool).tril()


def local_window(n: int, radius: int) -> Bool[Tensor, "query key"]:
    """Each token attends to the tokens at most `radius` positions away."""
    position = torch.arange(n)
    return (position[:, None] - position).abs() <= radius


def patch_window(grid: tuple[int, int], radius: int, n_before: int) -> Bool[Tensor, "query key"]:
    """Each patch attends to the patches at most `radius` rows and columns away.

    The `n_before` positions before the patches, such as the class token, attend to all and all attend to them.
    """
    row, column = torch.meshgrid(*map(torch.arange, grid), indexing="ij")
    row, column = row.flatten(), column.flatten()
    rows_near = (row[:, None] - row).abs() <= radius
    near = rows_near & ((column[:, None] - column).abs() <= radius)
    return torch.nn.functional.pad(near, (n_before, 0, n_before, 0), value=True)


def blocked_keys(n: int, keys: Iterable[int]) -> Bool[Tensor, "query key"]:
    """No query attends to any of `keys`; as queries these still attend to the others."""
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[:, list(keys)] = False
    return mask


def blocked_cells(n: int, cells: Iterable[tuple[int, int]]) -> Bool[Tensor, "query key"]:
    """Each of `cells` is a (query, key) that is masked."""
    mask = torch.ones(n, n, dtype=torch.bool)
    for query, key in cells:
        mask[query, key] = False
    return mask


def within(
    mask: Bool[Tensor, "query key"], n_layers: int, n_heads: int, layers: Iterable[int], heads: Iterable[int]
) -> Bool[Tensor, "layer head query key"]:
    """The mask in these `heads` of these `layers`; in the others every query may attend to every key."""
    applies = torch.zeros(n_layers, n_heads, 1, 1, dtype=torch.bool)
    applies[torch.tensor(list(layers), dtype=torch.long)[:, None], list(heads)] = True
    return mask | ~applies
