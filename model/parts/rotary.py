"""Rotary positions: queries and keys are rotated by angles that grow with the position (RoPE, Su et al. 2021).

A pair of numbers (a, b) of a head becomes (a cos θ − b sin θ, a sin θ + b cos θ), where θ is the position times the pair's
frequency. The product of a rotated query and a rotated key depends on their distance alone.

On a grid of patches they are rotated by their row and their column (DINOv3, Siméoni et al. 2025). The centre of a patch has two
coordinates, which go from −1 at one edge of the picture to 1 at the other. Half of the pairs of a head are rotated by the row's
coordinate, the other half by the column's: by 2π times the coordinate, divided by a period.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from ..config import ModelConfig
from ..family_options import Rotary
from ..hooks import HookPoint
from .relative_bias import Numbers, numbers_in_batch

Heads = Float[Tensor, "batch head position width"]


class Factors(NamedTuple):
    """Cosine and sine of the rotation angles, for each component of a vector (both components of a pair have the same)."""

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
    """The vectors `x`, with their first components rotated, as many as there are factors, and the others unchanged.

    A pair consists of the components i and i + width / 2, or, if `interleaved`, of 2i and 2i + 1. Each component times its cosine
    plus its partner times its sine is the rotation (Su et al. 2021, eq. 34) in the fewest passes over the vectors.
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
    base: float,
    width: int,
    grid: tuple[int, int] | None,
    n_positions: int,
    interleaved: bool,
    device: torch.device,
    dtype: torch.dtype,
) -> Factors:
    """Factors for `n_positions` positions of a text or, with a `grid` (rows, columns) of patches, of a picture."""
    if grid is None:
        angle = angles(base, width, n_positions)
    else:
        angle = _angles(_frequencies(base, width, grid), _rows_and_columns(grid, n_positions))
    return factors(angle.to(device, dtype), interleaved=interleaved)


class Rotated(HookPoint):
    """Hook point for q or k of a layer that rotates them first; `content` is the hook point before the rotation.

    At the hook point `position_numbers` are the numbers of the positions of each input, by which it rotates.
    """

    grid: tuple[int, int] | None = None  # (rows, columns) of the patches of a picture

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
        return self.angles_of(self.own_numbers(n_positions)[None])[0]

    def own_numbers(self, n_positions: int) -> Shaped[Tensor, "position ..."]:
        """The numbers of the positions, before an intervention changes them."""
        return torch.arange(n_positions, device=self.frequencies().device)

    def angles_of(self, numbers: Numbers) -> Float[Tensor, "batch position pair"]:
        """Angle by which each pair of numbers is rotated at positions with these numbers, in radians."""
        return angles_at(self.frequencies(), numbers)

    def forward(self, activation: Heads) -> Tensor:
        n_inputs, _, n_positions, _ = activation.shape
        if self.position_numbers.is_watched or self.stored_frequencies is not None:
            numbers = numbers_in_batch(self.position_numbers, self.own_numbers(n_positions), n_inputs)
            by = factors(self.angles_of(numbers)[:, None].to(activation), interleaved=self.interleaved)
        else:
            by = _factors_by_length(
                self.base,
                self.n_rotated,
                self.grid,
                n_positions,
                self.interleaved,
                activation.device,
                activation.dtype,
            )
        return super().forward(rotate(self.content(activation), by, interleaved=self.interleaved))


class GridRotated(Rotated):
    """Hook point for q or k of a layer that first rotates the vectors of patches; those of other positions stay."""

    grid: tuple[int, int]

    def __init__(self, rotary: Rotary, layer: int, config: ModelConfig) -> None:
        super().__init__(rotary, layer, config.d_k)
        assert config.patch_grid is not None, "an encoder of texts"
        self.grid = config.patch_grid

    def frequencies(self) -> Float[Tensor, " pair"]:
        """Frequencies of the pairs of a head: first those rotated by the row, in radians per row of patches, then those rotated
        by the column, in radians per column.
        """
        return _frequencies(self.base, self.n_rotated, self.grid)

    def own_numbers(self, n_positions: int) -> Float[Tensor, "position 2"]:
        """Row and column of each position, counted from the middle of the picture; 0 for class token and registers, the first of
        the `n_positions`.
        """
        return _rows_and_columns(self.grid, n_positions)

    def angles_of(self, numbers: Float[Tensor, "batch position 2"]) -> Float[Tensor, "batch position pair"]:
        """Angle by which each pair of numbers is rotated at these rows and columns, in radians, in the order of `frequencies`."""
        return _angles(self.frequencies(), numbers)


def _frequencies(base: float, width: int, grid: tuple[int, int]) -> Float[Tensor, " pair"]:
    by_coordinate = 2 * math.pi * frequencies(base, width // 2)
    return torch.cat([by_coordinate * 2 / n_steps for n_steps in grid])


def _rows_and_columns(grid: tuple[int, int], n_positions: int) -> Float[Tensor, "position 2"]:
    of_patches = torch.cartesian_prod(*(torch.arange(n_steps) - (n_steps - 1) / 2 for n_steps in grid))
    return torch.cat((of_patches.new_zeros(n_positions - len(of_patches), 2), of_patches))


def _angles(
    frequency: Float[Tensor, " pair"], numbers: Float[Tensor, "*batch position 2"]
) -> Float[Tensor, "*batch position pair"]:
    by_row, by_column = frequency.chunk(2)
    return torch.cat((numbers[..., :1] * by_row, numbers[..., 1:] * by_column), dim=-1)
