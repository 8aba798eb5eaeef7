"""Rotary positions on a grid of patches: queries and keys are rotated by their row and their column (DINOv3, Siméoni et al. 2025).

The centre of a patch has two coordinates, which go from −1 at one edge of the picture to 1 at the other. Half of the pairs of
a head are rotated by the row's coordinate, the other half by the column's: by 2π times the coordinate, divided by a period.
"""

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from ..config import ModelConfig
from ..family_options import Rotary
from .rotary import Factors, Heads, Rotated, factors, frequencies


class GridRotated(Rotated):
    """Hook point for q or k of a layer that first rotates the vectors of patches; those of other positions stay."""

    def __init__(self, rotary: Rotary, layer: int, config: ModelConfig) -> None:
        super().__init__(rotary, layer, config.d_k)
        assert config.patch_grid is not None, "an encoder of texts"
        self.rows, self.columns = config.patch_grid

    def frequencies(self) -> Float[Tensor, " pair"]:
        """Frequencies of the pairs of a head: first those rotated by the row, in radians per row of patches, then those rotated
        by the column, in radians per column.
        """
        return _frequencies(self.base, self.n_rotated, (self.rows, self.columns))

    def numbers(self, n_positions: int) -> Float[Tensor, "position 2"]:
        """Row and column of each position, counted from the middle of the picture; 0 for class token and registers, the first of
        the `n_positions`.
        """
        return _rows_and_columns((self.rows, self.columns), n_positions)

    def angles_of(self, numbers: Float[Tensor, "batch position 2"]) -> Float[Tensor, "batch position pair"]:
        """Angle by which each pair of numbers is rotated at these rows and columns, in radians, in the order of `frequencies`."""
        return _angles(self.frequencies(), numbers)

    def own_factors(self, n_positions: int, activation: Heads) -> Factors:
        grid = self.rows, self.columns
        device, dtype = activation.device, activation.dtype
        return _factors_by_grid(self.base, self.n_rotated, grid, n_positions, self.interleaved, device, dtype)


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


@lru_cache(maxsize=8)
@torch.inference_mode(False)
def _factors_by_grid(
    base: float,
    width: int,
    grid: tuple[int, int],
    n_positions: int,
    interleaved: bool,
    device: torch.device,
    dtype: torch.dtype,
) -> Factors:
    angle = _angles(_frequencies(base, width, grid), _rows_and_columns(grid, n_positions))
    return factors(angle.to(device, dtype), interleaved=interleaved)
