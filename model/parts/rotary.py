"""Rotary positions: queries and keys are rotated by angles that grow with the position (RoPE, Su et al. 2021).

A pair of numbers (a, b) of a head becomes (a cos θ − b sin θ, a sin θ + b cos θ), where θ is the position times the pair's
frequency. The product of a rotated query and a rotated key depends on their distance alone.
"""

from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from ..family_options import Rotary
from ..hooks import HookPoint
from .position_numbers import Numbers, numbers_in_batch

Heads = Float[Tensor, "batch head position width"]


class Factors(NamedTuple):
    """What vectors are multiplied by when they are rotated, for each number of the pairs and not only for each pair."""

    cos: Float[Tensor, "*axes position width"]
    sin: Float[Tensor, "*axes position width"]  # negative for the first number of a pair


def frequencies(base: float, width: int) -> Float[Tensor, " pair"]:
    """Frequencies of the `width` / 2 pairs of a head, in radians per position: base^(−2i/width) for the pair i."""
    return 1.0 / base ** (torch.arange(0, width, 2) / width)


def angles(base: float, width: int, n_positions: int) -> Float[Tensor, "position pair"]:
    """Angle by which each pair of numbers is rotated at each position, in radians."""
    return angles_at(frequencies(base, width), torch.arange(n_positions))


def angles_at(
    frequency: Float[Tensor, " pair"], positions: Int[Tensor, "*batch position"]
) -> Float[Tensor, "*batch position pair"]:
    """Angle by which each pair of numbers of this `frequency` is rotated at each of `positions`, in radians."""
    return positions[..., None] * frequency


def factors(angle: Float[Tensor, "*axes position pair"], *, interleaved: bool = False) -> Factors:
    """Factors of a rotation by these angles, for pairs as `rotate` makes them."""
    cos, sin = angle.cos(), angle.sin()
    dim = -1 if interleaved else -2
    return Factors(*(torch.stack(pair, dim).flatten(-2) for pair in ((cos, cos), (-sin, sin))))


def rotate(x: Heads, by: Factors, *, interleaved: bool = False) -> Heads:
    """The vectors `x` with as many of their first numbers rotated as there are factors; the others stay.

    A pair is made of the numbers i and i + width / 2, or, if `interleaved`, of the numbers 2i and 2i + 1. Each number times
    its cos plus its partner times its sin is the rotation (Su et al. 2021, eq. 34) in the fewest passes over the vectors.
    """
    n_rotated = by.cos.shape[-1]
    if n_rotated < x.shape[-1]:
        rotated = rotate(x[..., :n_rotated], by, interleaved=interleaved)
        return torch.cat((rotated, x[..., n_rotated:]), dim=-1)
    partners = x.unflatten(-1, (-1, 2) if interleaved else (2, -1)).flip(-1 if interleaved else -2)
    return x * by.cos + partners.flatten(-2) * by.sin


# Layers share them, and so do the next texts of this length: made in each layer, they took a third of the launches of a GPU.
@lru_cache(maxsize=8)
@torch.inference_mode(False)  # or they could not be used where gradients are asked for
def _factors_by_length(
    base: float, width: int, n_positions: int, interleaved: bool, device: torch.device, dtype: torch.dtype
) -> Factors:
    angle = angles(base, width, n_positions).to(device, dtype)
    return factors(angle, interleaved=interleaved)


class Rotated(HookPoint):
    """Hook point for q or k of a layer that rotates them first; `content` is the hook point before the rotation.

    At the hook point `position_numbers` are the numbers of the positions of each input, by which it rotates.
    """

    def __init__(self, rotary: Rotary, layer: int, d_k: int) -> None:
        super().__init__()
        self.base, self.interleaved = rotary.bases[layer], rotary.interleaved
        self.n_rotated = round(rotary.share * d_k)
        self.content, self.position_numbers = HookPoint(), HookPoint()
        has_stored = rotary.stored_frequencies
        self.stored_frequencies = nn.Parameter(torch.empty(self.n_rotated // 2)) if has_stored else None

    def frequencies(self) -> Float[Tensor, " pair"]:
        """Frequencies of the pairs of a head, in radians per position."""
        if self.stored_frequencies is not None:
            return self.stored_frequencies
        return frequencies(self.base, self.n_rotated)

    def angles(self, n_positions: int) -> Float[Tensor, "position pair"]:
        """Angle by which each pair of numbers is rotated at each position, in radians."""
        return self.angles_of(self.numbers(n_positions)[None])[0]

    def numbers(self, n_positions: int) -> Shaped[Tensor, "position ..."]:
        """The numbers of the positions, before an intervention changes them."""
        return torch.arange(n_positions, device=self.frequencies().device)

    def angles_of(self, numbers: Numbers) -> Float[Tensor, "batch position pair"]:
        """Angle by which each pair of numbers is rotated at positions with these numbers, in radians."""
        return angles_at(self.frequencies(), numbers)

    def own_factors(self, n_positions: int, activation: Heads) -> Factors | None:
        """Factors for positions whose numbers nothing changes, kept by length; None where frequencies are trained."""
        if self.stored_frequencies is not None:
            return None
        return _factors_by_length(
            self.base, self.n_rotated, n_positions, self.interleaved, activation.device, activation.dtype
        )

    def forward(self, activation: Heads) -> Tensor:
        n_inputs, _, n_positions, _ = activation.shape
        by = None if self.position_numbers.is_watched else self.own_factors(n_positions, activation)
        if by is None:
            numbers = numbers_in_batch(self.position_numbers, self.numbers(n_positions), n_inputs)
            by = factors(self.angles_of(numbers)[:, None].to(activation), interleaved=self.interleaved)
        return super().forward(rotate(self.content(activation), by, interleaved=self.interleaved))
