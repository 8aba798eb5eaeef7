"""Tasks that an encoder is trained on.

A batch is drawn from (seed, step) alone, so that a run can stop and resume at any step.
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
    """Batches, loss and held-out evaluation of a training task."""

    n_examples: int
    n_glance: int  # held-out examples evaluated for a snapshot
    n_check: int  # held-out examples evaluated at regular intervals
    drop_last: bool  # whether an epoch leaves out its last, incomplete batch

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """Tensors whose first axis is the example."""
        ...

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        """Loss of a batch, in nats per example."""
        ...

    def evaluate(self, model: Transformer, at_most: int) -> dict[str, int | float]:
        """n, accuracy and loss on the first `at_most` held-out examples."""
        ...


def generator(*numbers: int) -> Generator:
    """A random generator seeded by all the numbers."""
    return Generator().manual_seed(int(np.random.SeedSequence(numbers).generate_state(1)[0]))


def device_of(model: Transformer) -> torch.device:
    """Device of the model's parameters."""
    return next(model.parameters()).device
