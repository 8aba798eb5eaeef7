"""Replacements of activations: frozen dataclasses, called with the encoder and the activation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..transformer import Transformer, sinusoidal

Activation = Float[Tensor, "batch ..."]
Pattern = Float[Tensor, "batch head query key"]
Replacement = Callable[[Transformer, Activation], Activation]


@dataclass(frozen=True, slots=True)
class Divided:
    """Scores divided by a temperature."""

    temperature: float
    head: int | None = None

    def __call__(self, _model: Transformer, activation: Pattern) -> Pattern:
        return _in_head(activation, self.head, lambda scores: scores / self.temperature)


@dataclass(frozen=True, slots=True)
class Hardened:
    """For the pattern, after the mask: all weight of a row on its largest, in equal shares where several are largest.

    A row without any key stays zeros.
    """

    head: int | None = None

    def __call__(self, _model: Transformer, activation: Pattern) -> Pattern:
        return _in_head(activation, self.head, harden)


def harden(pattern: Float[Tensor, "*axes query key"]) -> Float[Tensor, "*axes query key"]:
    """1 at the largest weight of each row, in equal shares where several are largest; 0 elsewhere."""
    largest = (pattern == pattern.amax(dim=-1, keepdim=True)) & (pattern > 0)
    return largest / largest.sum(dim=-1, keepdim=True).clamp(min=1)


def _in_head(activation: Pattern, head: int | None, change: Callable[[Tensor], Tensor]) -> Pattern:
    if head is None:
        return change(activation)
    changed = activation.clone()
    changed[:, head] = change(activation[:, head])
    return changed


@dataclass(frozen=True, slots=True)
class Zeroed:
    """Zeros in place of the activation."""

    def __call__(self, _model: Transformer, activation: Activation) -> Activation:
        return torch.zeros_like(activation)


@dataclass(frozen=True, slots=True)
class HeadsAs:
    """For [batch, head, position, width]: at every position of `heads` zeros, or the head's row of `vectors`."""

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
    """Content in another order: order[i] is the position whose content is moved to position i."""

    order: tuple[int, ...]

    def __call__(self, _model: Transformer, activation: Activation) -> Activation:
        return activation[:, list(self.checked(activation.shape[1]))]

    def checked(self, n: int) -> tuple[int, ...]:
        """The order. Raises ValueError where it is not one of `n` positions."""
        if sorted(self.order) != list(range(n)):
            raise ValueError(f"an order names each of the {n} positions once, got {self.order}")
        return self.order


@dataclass(frozen=True, slots=True)
class Shifted:
    """For `embedding.positions`: the vectors of the positions `by` later."""

    by: int

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        return shifted_positions(model, activation.shape[1], self.by).expand_as(activation)


def shifted_positions(model: Transformer, n: int, by: int) -> Float[Tensor, "position d_model"]:
    """The vectors of positions `by` to `by + n - 1`, for an input of `n` positions.

    Sinusoids have no end. A learned table starts again after its end; in that of pictures the positions before the first
    patch keep their vectors, and those of the patches are rotated. Raises ValueError where `by` is negative.
    """
    if by < 0:
        raise ValueError(f"positions can be shifted onwards only, got {by}")
    config, table = model.config, model.embedding.position_table
    if config.positions == "sinusoidal":
        return sinusoidal(by + n, config.d_model)[by:].to(table)
    if config.is_text:
        return table.roll(-by, dims=0)[:n]
    first = n - config.n_patches
    return torch.cat((table[:first], table[first:].roll(-by, dims=0)))


@dataclass(frozen=True, slots=True)
class Permuted:
    """For the pattern: the weights of each row permuted at random among the `keys` (None: among all).

    Every head and query has its own permutation, drawn by `seed`; the inputs of a batch share them. Weights of other
    keys stay, so with `keys` that the mask allows no weight moves to a masked key.
    """

    seed: int | tuple[int, ...]
    keys: tuple[int, ...] | None = None

    def __call__(self, _model: Transformer, activation: Pattern) -> Pattern:
        _, n_heads, n_queries, n_keys = activation.shape
        keys = torch.arange(n_keys) if self.keys is None else torch.tensor(self.keys, dtype=torch.long)
        rng = np.random.default_rng(self.seed)
        order = torch.from_numpy(rng.random((n_heads, n_queries, len(keys))).argsort(axis=-1))
        from_key = keys[order].to(activation.device).expand(len(activation), -1, -1, -1)
        permuted = activation.clone()
        permuted[..., keys] = activation.gather(-1, from_key)
        return permuted


@dataclass(frozen=True, slots=True)
class OtherTokens:
    """For `embedding.content`: at these positions the content of the tokens `ids` (as of `model.inputs.prepare`)."""

    positions: tuple[int, ...]
    ids: tuple[int, ...]

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        changed = activation.clone()
        ids = torch.tensor([self.ids], device=activation.device)
        changed[:, list(self.positions)] = model.embedding.look_up(ids)
        return changed


@dataclass(frozen=True, slots=True)
class Greyed:
    """For `embedding.content`: at these positions the content of a patch whose pixels all are `mean`, one number a colour."""

    positions: tuple[int, ...]
    mean: tuple[float, ...]

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        shape = model.config.image_shape
        colours = torch.tensor(self.mean, device=activation.device).view(-1, 1, 1)
        picture = colours.expand(-1, *shape[-2:]).reshape(1, *shape)
        changed = activation.clone()
        changed[:, list(self.positions)] = model.embedding.look_up(picture)[:, list(self.positions)]
        return changed
