"""Masks: boolean tensors, True where a query may attend to a key."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

Mask = Bool[Tensor, "..."]  # [query, key], or any that broadcasts to [batch, layer, head, query, key]
FullMask = Bool[Tensor, "#batch layer #head #query #key"]
LayerMask = Bool[Tensor, "#batch #head #query #key"]


def real_positions(inputs: Tensor, padding_id: int | None) -> Bool[Tensor, "batch position"] | None:
    """True at tokens that are not padding; None if there is no padding, since a forward pass without a mask is a fifth faster."""
    if padding_id is None:
        return None
    is_real = inputs != padding_id
    return None if is_real.all() else is_real


def combine_with_padding(
    mask: Mask | None, real: Bool[Tensor, "batch key"] | None, shape: tuple[int, int, int, int, int]
) -> FullMask | None:
    """The mask combined with `real`, which is False at padding; None if both are None.

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


def causal(n: int, device: torch.device | None = None) -> Bool[Tensor, "query key"]:
    """Causal mask: True if the key is the query itself or an earlier position."""
    return torch.ones(n, n, dtype=torch.bool, device=device).tril()


def local_window(n: int, radius: int) -> Bool[Tensor, "query key"]:
    """Mask that is True if the key is at most `radius` positions away from the query."""
    return local_windows(n, [radius])[0]


def local_windows(
    n: int, radii: Sequence[int], device: torch.device | None = None
) -> Bool[Tensor, "window query key"]:
    """A mask for each of the `radii`, True if the key is at most so many positions away from the query."""
    position = torch.arange(n, device=device)
    distance = (position[:, None] - position).abs()
    window_by_radius = {radius: distance <= radius for radius in {*radii}}  # layers share a few
    return torch.stack([window_by_radius[radius] for radius in radii])


def patch_window(grid: tuple[int, int], radius: int, n_before: int) -> Bool[Tensor, "query key"]:
    """Mask that is True if the key's patch is at most `radius` rows and `radius` columns away from the query's.

    The `n_before` positions before the patches, such as the class token, are masked neither as queries nor as keys.
    """
    row, column = torch.meshgrid(*map(torch.arange, grid), indexing="ij")
    row, column = row.flatten(), column.flatten()
    is_near_row = (row[:, None] - row).abs() <= radius
    is_near = is_near_row & ((column[:, None] - column).abs() <= radius)
    return torch.nn.functional.pad(is_near, (n_before, 0, n_before, 0), value=True)


def blocked_keys(n: int, keys: Iterable[int]) -> Bool[Tensor, "query key"]:
    """Mask that is False for the given `keys` at every query; as queries these positions may still attend to other keys."""
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[:, list(keys)] = False
    return mask


def blocked_cells(n: int, cells: Iterable[tuple[int, int]]) -> Bool[Tensor, "query key"]:
    """Mask that is False only in the given `cells`, pairs (query, key)."""
    mask = torch.ones(n, n, dtype=torch.bool)
    for query, key in cells:
        mask[query, key] = False
    return mask


def restrict_to_heads(
    mask: Bool[Tensor, "query key"], n_layers: int, n_heads: int, layers: Iterable[int], heads: Iterable[int]
) -> Bool[Tensor, "layer head query key"]:
    """The mask in the given `heads` of the given `layers`; in all other heads nothing is masked."""
    is_selected = torch.zeros(n_layers, n_heads, 1, 1, dtype=torch.bool)
    is_selected[torch.tensor(list(layers), dtype=torch.long)[:, None], list(heads)] = True
    return mask | ~is_selected
