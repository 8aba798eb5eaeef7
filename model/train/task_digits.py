"""The training task of classifying digits."""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from ..evaluate.__main__ import classification
from ..theory.digit_training import steps_per_epoch
from ..transformer import Transformer
from .augment import augment
from .task import Batch, device_of, generator


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
        return augment(images, generator(seed, step, 1), self.strength), labels

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats, with label smoothing."""
        images, labels = batch
        return functional.cross_entropy(model(images).float(), labels, label_smoothing=self.label_smoothing)

    def evaluate(self, model: Transformer, at_most: int) -> dict[str, int | float]:
        images, labels = (values[:at_most] for values in self.held_out)
        return classification(
            torch.cat([model(batch.to(device_of(model))).cpu() for batch in images.split(500)]), labels
        )


def epoch_examples(
    n_examples: int, seed: int, step: int, size: int, *, drop_last: bool = True
) -> Int[Tensor, " at_most_size"]:
    """Indices of the examples in the batch of one step; every epoch is a new random order in which each example occurs once."""
    size = min(size, n_examples)
    epoch, index = divmod(step, steps_per_epoch(n_examples, size, drop_last=drop_last))
    order = torch.randperm(n_examples, generator=generator(seed, epoch))
    return order[index * size : (index + 1) * size]
