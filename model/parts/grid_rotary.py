"""Rotary positions on a grid of patches: queries and keys are rotated by their row and their column (DINOv3, Siméoni et al. 2025).

The centre of a patch has two coordinates, which go from −1 at one edge of the picture to 1 at the other. Half of the pairs of
a head are rotated by the row's coordinate, the other half by the column's: by 2π times the coordinate, divided by a period.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from ..config import ModelConfig
from ..family_options import Rotary
from .rotary import Rotated, frequencies


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
        by_coordinate = 2 * math.pi * frequencies(self.base, self.n_rotated // 2)
        return torch.cat((by_coordinate * 2 / self.rows, by_coordinate * 2 / self.columns))

    def numbers(self, n_positions: int) -> Float[Tensor, "position 2"]:
        """Row and column of each position, counted from the middle of the picture; 0 for class token and registers, the first of
        the `n_positions`.
        """
        device = self.frequencies().device
        row = torch.arange(self.rows, device=device) - (self.rows - 1) / 2
        column = torch.arange(self.columns, device=device) - (self.columns - 1) / 2
        of_patches = torch.cartesian_prod(row, column)
        return torch.cat((of_patches.new_zeros(n_positions - len(of_patches), 2), of_patches))

    def angles_of(self, numbers: Float[Tensor, "batch position 2"]) -> Float[Tensor, "batch position pair"]:
        """Angle by which each pair of numbers is rotated at these rows and columns, in radians, in the order of `frequencies`."""
        by_row, by_column = self.frequencies().chunk(2)
        return torch.cat((numbers[..., :1] * by_row, numbers[..., 1:] * by_column), dim=-1)
