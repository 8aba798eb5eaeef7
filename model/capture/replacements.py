"""What can take the place of an activation: frozen dataclasses of plain values, called with the encoder and it."""

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
    """Each row's largest weight becomes all of it; taken from the pattern, where the mask has had its say.

    A row without any key stays zeros.
    """

    head: int | None = None

    def __call__(self, _model: Transformer, activation: Pattern) -> Pattern:
        return _in_head(activation, self.head, harden)


def harden(pattern: Float[Tensor, "*axes query key"]) -> Float[Tensor, "*axes query key"]:
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
    """Zeros."""

    def __call__(self, _model: Transformer, activation: Activation) -> Activation:
        return torch.zeros_like(activation)


@dataclass(frozen=True, slots=True)
class HeadsAs:
    """Of the activation of a layer [batch, head, position, width], that of `heads` at every position: zeros, or its row of `vectors`."""

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
    """Content in another order: order[i] is the position whose content stands at i now."""

    order: tuple[int, ...]

    def __call__(self, _model: Transformer, activation: Activation) -> Activation:
        return activation[:, list(self.checked(activation.shape[1]))]

    def checked(self, n: int) -> tuple[int, ...]:
        """Raises ValueError where it is not an order of `n` positions."""
        if sorted(self.order) != list(range(n)):
            raise ValueError(f"an order names each of the {n} positions once, got {self.order}")
        return self.order


@dataclass(frozen=True, slots=True)
class Shifted:
    """The vectors of the positions that are `by` further on."""

    by: int

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        return shifted_positions(model, activation.shape[1], self.by).expand_as(activation)


def shifted_positions(model: Transformer, n: int, by: int) -> Float[Tensor, "position d_model"]:
    """The vectors of positions `by` to `by + n - 1`, for an input of `n` positions.

    Sinusoids go on for ever. A learned table begins again after its end; that of pictures leaves the class
    token its own vector, and its patches go round among themselves. Raises ValueError where `by` is negative.
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
    """The weights of each row in another, random order among the `keys`; None: among all.

    Every head and query has an order of its own, which `seed` decides; the inputs of a batch share them. To leave a
    row's weights with keys that the mask allows, `keys` are those: a weight elsewhere stays where it is.
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
    """For `embedding.content`: at these positions, that of the tokens numbered `ids` (as `model.inputs.prepare` numbers them)."""

    positions: tuple[int, ...]
    ids: tuple[int, ...]

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        changed = activation.clone()
        ids = torch.tensor([self.ids], device=activation.device)
        changed[:, list(self.positions)] = model.embedding.look_up(ids)
        return changed


@dataclass(frozen=True, slots=True)
class Greyed:
    """For `embedding.content`: at these positions, that of a patch of which every pixel is the `mean`, a number a colour."""

    positions: tuple[int, ...]
    mean: tuple[float, ...]

    def __call__(self, model: Transformer, activation: Activation) -> Activation:
        shape = model.config.image_shape
        colours = torch.tensor(self.mean, device=activation.device).view(-1, 1, 1)
        picture = colours.expand(-1, *shape[-2:]).reshape(1, *shape)
        changed = activation.clone()
        changed[:, list(self.positions)] = model.embedding.look_up(picture)[:, list(self.positions)]
        return changed
