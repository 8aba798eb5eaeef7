"""What a phase of training learns: where a batch comes from, its loss, and how well it goes on held-out data.

A batch is drawn from (seed, step) alone, so that a run can stop and go on at any step.
"""

from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from ..transformer import Transformer

Batch = tuple[Tensor, ...]


@runtime_checkable
class Task(Protocol):
    n_examples: int
    n_glance: int  # held-out examples for a moment of the film
    n_check: int  # held-out examples for a look now and then
    drop_last: bool  # whether an epoch leaves out the examples that are too few for a batch

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """Tensors whose first axis is the example."""
        ...

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]: ...

    def evaluate(self, model: Transformer, at_most: int) -> dict[str, int | float]:
        """n, accuracy and loss on the first `at_most` held-out examples."""
        ...


def generator(*numbers: int) -> Generator:
    return Generator().manual_seed(int(np.random.SeedSequence(numbers).generate_state(1)[0]))


def device_of(model: Transformer) -> torch.device:
    return next(model.parameters()).device
