"""Small random distortions of digits that do not change their class."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.nn import functional

ROTATION, SHEAR, SCALE, SHIFT, WAVE = math.radians(15), 0.2, 0.15, 0.16, 0.08


def augment(
    images: Float[Tensor, "batch height width"], generator: Generator, strength: float = 1.0
) -> Float[Tensor, "batch height width"]:
    """The images after a random affine map and an elastic distortion (Simard et al. 2003) by a coarse grid of displacements.

    The unit of length is half the side of the image: a shift of 0.16 moves a digit of 28 pixels by up to 2.2 pixels.
    `strength` scales the constants of this module; 0 changes nothing.
    """
    n = len(images)

    def uniform(*shape: int) -> Tensor:
        return (torch.rand(n, *shape, generator=generator) * 2 - 1) * strength

    angle, shear = uniform() * ROTATION, uniform() * SHEAR
    scale_x, scale_y = 1 + uniform() * SCALE, 1 + uniform() * SCALE
    cos, sin = angle.cos(), angle.sin()
    affine_rows = (
        torch.stack((cos * scale_x, (shear - sin) * scale_y, uniform() * SHIFT), dim=-1),
        torch.stack((sin * scale_x, cos * scale_y, uniform() * SHIFT), dim=-1),
    )
    grid = functional.affine_grid(
        torch.stack(affine_rows, dim=1), [n, 1, *images.shape[1:]], align_corners=False
    )
    displacements = functional.interpolate(
        uniform(2, 5, 5) * WAVE, images.shape[1:], mode="bicubic", align_corners=True
    )
    grid = grid + displacements.permute(0, 2, 3, 1)
    return functional.grid_sample(images[:, None], grid, align_corners=False)[:, 0]
