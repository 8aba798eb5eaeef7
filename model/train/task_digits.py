"""The training task of classifying digits, with small random distortions that keep their class."""

import math

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor
from torch.nn import functional

from ..evaluate.__main__ import classification_metrics
from ..theory.digit_training import steps_per_epoch
from ..transformer import Transformer
from .task import Batch, device_of, seeded_generator

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


class Digits:
    """Classification of digits, which are randomly distorted if `strength` is above 0."""

    n_glance, n_check = 500, 5000

    def __init__(
        self,
        train: tuple[Float[Tensor, "train size size"], Int[Tensor, " train"]],
        held_out: tuple[Float[Tensor, "held_out size size"], Int[Tensor, " held_out"]],
        *,
        strength: float,
        label_smoothing: float = 0.05,
        drop_last: bool = True,
    ) -> None:
        self.train, self.held_out = train, held_out
        self.strength, self.label_smoothing = strength, label_smoothing
        self.n_examples, self.drop_last = len(train[0]), drop_last

    def batch(self, seed: int, step: int, size: int) -> Batch:
        indices = epoch_examples(self.n_examples, seed, step, size, drop_last=self.drop_last)
        images, labels = (values[indices] for values in self.train)
        if not self.strength:
            return images, labels
        return augment(images, seeded_generator(seed, step, 1), self.strength), labels

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats, with label smoothing."""
        images, labels = batch
        return functional.cross_entropy(model(images).float(), labels, label_smoothing=self.label_smoothing)

    def evaluate(self, model: Transformer, max_examples: int) -> dict[str, int | float]:
        images, labels = (values[:max_examples] for values in self.held_out)
        return classification_metrics(
            torch.cat([model(batch.to(device_of(model))).cpu() for batch in images.split(500)]), labels
        )


def epoch_examples(
    n_examples: int, seed: int, step: int, size: int, *, drop_last: bool = True
) -> Int[Tensor, " at_most_size"]:
    """Indices of the examples in the batch of one step; every epoch is a new random order in which each example occurs once."""
    size = min(size, n_examples)
    epoch, index = divmod(step, steps_per_epoch(n_examples, size, drop_last=drop_last))
    order = torch.randperm(n_examples, generator=seeded_generator(seed, epoch))
    return order[index * size : (index + 1) * size]
