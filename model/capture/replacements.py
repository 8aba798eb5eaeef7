"""Replacements of activations: frozen dataclasses that, called with the encoder and an activation, return the new one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..huggingface.encoder import own_full_mask
from ..transformer import Transformer, sinusoidal

Activation = Float[Tensor, "batch ..."]
Pattern = Float[Tensor, "batch head query key"]
Replacement = Callable[[Transformer, Activation], Activation]


@dataclass(frozen=True, slots=True)
class Divided:
    """Replaces the scores by scores divided by a temperature, in one head or in all."""

    temperature: float
    head: int | None = None

    def __call__(self, _model: Transformer, activation: Pattern) -> Pattern:
        return _change_in_head(activation, self.head, lambda scores: scores / self.temperature)


@dataclass(frozen=True, slots=True)
class Hardened:
    """Replaces the pattern: each row puts all weight on the key with its largest weight, in equal shares if there are several.

    A row without an allowed key remains zeros.
    """

    head: int | None = None

    def __call__(self, _model: Transformer, activation: Pattern) -> Pattern:
        return _change_in_head(activation, self.head, harden)


def harden(pattern: Float[Tensor, "*axes query key"]) -> Float[Tensor, "*axes query key"]:
    """The pattern with 1 at the largest weight of each row and 0 elsewhere; several largest weights get equal shares of 1."""
    is_largest = (pattern == pattern.amax(dim=-1, keepdim=True)) & (pattern > 0)
    return is_largest / is_largest.sum(dim=-1, keepdim=True).clamp(min=1)


def _change_in_head(activation: Pattern, head: int | None, change: Callable[[Tensor], Tensor]) -> Pattern:
    if head is None:
        return change(activation)
    changed = activation.clone()
    changed[:, head] = change(activation[:, head])
    return changed


@dataclass(frozen=True, slots=True)
class Zeroed:
    """Replaces the activation by zeros."""

    def __call__(self, _model: Transformer, activation: Tensor) -> Tensor:
        return torch.zeros_like(activation)


@dataclass(frozen=True, slots=True)
class ReplacedHeads:
    """Replaces an activation [batch, head, position, width] in `heads`, at all positions, by zeros or each head's row
    of `vectors`.
    """

    heads: tuple[int, ...]
    vectors: tuple[tuple[float, ...], ...] | None = None  # [head, width], in the order of `heads`

    def __call__(self, _model: Transformer, activation: Activation) -> Activation:
        changed = activation.clone()
        if self.vectors is None:
            changed[:, list(self.heads)] = 0.0
        else:
            changed[:, list(self.heads)] = activation.new_tensor(self.vectors)[:, None]
        return changed


@dataclass(frozen=True, slots=True)
class Reordered:
    """Replaces content vectors by the same vectors in another order: order[i] is the position whose content moves to
    position i.
    """

    order: tuple[int, ...]

    def __call__(self, _model: Transformer, activation: Activation) -> Activation:
        return activation[:, list(self.checked_order(activation.shape[1]))]

    def checked_order(self, n: int) -> tuple[int, ...]:
        """Returns `order`. Raises ValueError unless it contains each of `n` positions once."""
        if sorted(self.order) != list(range(n)):
            raise ValueError(f"an order names each of the {n} positions once, got {self.order}")
        return self.order


@dataclass(frozen=True, slots=True)
class Shifted:
    """Replaces the position vectors (`embedding.positions`) by those of the positions that are `by` later."""

    by: int

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        return shifted_positions(model, activation.shape[1], self.by).expand_as(activation)


def shifted_positions(model: Transformer, n: int, by: int) -> Float[Tensor, "position d_model"]:
    """Position vectors `by` to `by + n - 1`, for an input of `n` positions.

    A learned table wraps around at its end; for pictures only the vectors of patches are shifted, while positions before
    the first patch keep their vectors. Raises ValueError for a negative `by`.
    """
    if by < 0:
        raise ValueError(f"positions can be shifted onwards only, got {by}")
    config, table = model.config, model.embedding.position_table
    if config.positions == "sinusoidal":
        return sinusoidal(by + n, config.d_model)[by:].to(table)
    if config.is_text:
        return table.roll(-by, dims=0)[:n]
    first_patch = n - config.n_patches
    return torch.cat((table[:first_patch], table[first_patch:].roll(-by, dims=0)))


@dataclass(frozen=True, slots=True)
class Renumbered:
    """Replaces the position indices, from which relative positions are computed, by indices that are `by` higher.

    Patches on a grid, numbered by row and column, are moved `by` rows; positions before the first patch keep their numbers.
    """

    by: int

    def __call__(self, model: Transformer, activation: Tensor) -> Tensor:
        if activation.ndim == 2:
            return activation + self.by
        moved = activation.clone()
        moved[:, model.config.n_before_patches :, 0] += self.by
        return moved


@dataclass(frozen=True, slots=True)
class Permuted:
    """Replaces the pattern by one whose rows are permuted randomly among `keys` (None: all keys).

    Every head and query has its own permutation, drawn with `seed` and shared by the inputs of a batch. Weights of other
    keys do not move, so if all `keys` are allowed, no weight gets to a masked key. Keys that the encoder itself hides from a
    query in this `layer`, by a causal mask or a window, do not move either.
    """

    seed: int | tuple[int, ...]
    keys: tuple[int, ...] | None = None
    layer: int | None = None  # None: the encoder hides no key

    def __call__(self, model: Transformer, activation: Pattern) -> Pattern:
        _, n_heads, n_queries, n_keys = activation.shape
        keys = torch.arange(n_keys) if self.keys is None else torch.tensor(self.keys, dtype=torch.long)
        order = np.random.default_rng(self.seed).random((n_heads, n_queries, len(keys)))
        target_keys = keys.expand(n_heads, n_queries, -1)
        mask = None if self.layer is None else own_full_mask(model.config, n_keys)
        if mask is not None:
            is_hidden = ~mask[0, self.layer][..., keys].expand(n_heads, n_queries, -1).numpy()
            order = np.where(is_hidden, 1 + np.arange(len(keys)), order)  # behind all others, as they are
            target_keys = keys[torch.from_numpy(is_hidden.argsort(axis=-1, kind="stable"))]
        source_keys = keys[torch.from_numpy(order.argsort(axis=-1))]
        target_keys, source_keys = (
            chosen_keys.to(activation.device).expand(len(activation), -1, -1, -1)
            for chosen_keys in (target_keys, source_keys)
        )
        return activation.scatter(-1, target_keys, activation.gather(-1, source_keys))


@dataclass(frozen=True, slots=True)
class OtherTokens:
    """Replaces `embedding.content` at `positions` by that of the tokens `ids`, in the numbering of `model.inputs.prepare`."""

    positions: tuple[int, ...]
    ids: tuple[int, ...]

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        changed = activation.clone()
        ids = torch.tensor([self.ids], device=activation.device)
        changed[:, list(self.positions)] = model.embedding.look_up(ids)
        return changed


@dataclass(frozen=True, slots=True)
class Greyed:
    """Replaces `embedding.content` at `positions` by that of a patch of a single colour, `mean`, one value for each channel."""

    positions: tuple[int, ...]
    mean: tuple[float, ...]

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        shape = model.config.image_shape
        colours = torch.tensor(self.mean, device=activation.device).view(-1, 1, 1)
        picture = colours.expand(-1, *shape[-2:]).reshape(1, *shape)
        changed = activation.clone()
        changed[:, list(self.positions)] = model.embedding.look_up(picture)[:, list(self.positions)]
        return changed
