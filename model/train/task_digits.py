"""Which digit is it?"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from model.evaluate import classification
from model.train.augment import augment
from model.train.tasks import Batch, generator
from model.transformer import Transformer

LABEL_SMOOTHING = 0.05


class Digits:
    """Classifies digits, slightly changed each time they come."""

    n_glance, n_check = 500, 5000

    def __init__(
        self,
        train: tuple[Float[Tensor, "train size size"], Int[Tensor, " train"]],
        held_out: tuple[Float[Tensor, "held_out size size"], Int[Tensor, " held_out"]],
        *,
        strength: float,
    ) -> None:
        self.train, self.held_out, self.strength = train, held_out, strength
        self.n_examples = len(train[0])

    def batch(self, seed: int, step: int, size: int) -> Batch:
        places = chosen(self.n_examples, seed, step, size)
        images, labels = (values[places] for values in self.train)
        return augment(images, generator(seed, step, 1), self.strength), labels

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        images, labels = batch
        return functional.cross_entropy(model(images).float(), labels, label_smoothing=LABEL_SMOOTHING)

    def evaluate(self, model: Transformer, at_most: int) -> dict[str, int | float]:
        images, labels = (values[:at_most] for values in self.held_out)
        return classification(torch.cat([model(part) for part in images.split(500)]), labels)


def chosen(n_examples: int, seed: int, step: int, size: int) -> Int[Tensor, " size"]:
    """The examples of one step: every epoch is a new order in which each example comes once."""
    size = min(size, n_examples)
    steps = n_examples // size
    epoch, place = divmod(step, steps)
    order = torch.randperm(n_examples, generator=generator(seed, epoch))
    return order[place * size : (place + 1) * size]
