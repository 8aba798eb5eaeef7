"""The interface of tasks on which an encoder is trained.

A batch is determined by (seed, step), so that a run can be stopped and resumed at any step.
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
    """A training task: its batches, its loss, and its held-out evaluation."""

    n_examples: int
    n_glance: int  # held-out examples evaluated for a snapshot
    n_check: int  # held-out examples evaluated at regular intervals
    drop_last: bool  # whether an epoch leaves out its last, incomplete batch

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """The batch of a step, as tensors whose first axis is the example."""
        ...

    def loss(self, model: Transformer, batch: Batch) -> Float[Tensor, ""]:
        """Loss of a batch, in nats per example."""
        ...

    def evaluate(self, model: Transformer, max_examples: int) -> dict[str, int | float]:
        """Number of examples `n`, `accuracy` and `loss` on the first `max_examples` held-out examples."""
        ...


def seeded_generator(*numbers: int) -> Generator:
    """A random generator that is seeded by all the numbers together."""
    return Generator().manual_seed(int(np.random.SeedSequence(numbers).generate_state(1)[0]))


def device_of(model: Transformer) -> torch.device:
    """The device of the model's parameters."""
    return next(model.parameters()).device
