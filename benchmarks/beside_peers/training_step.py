"""Sizes and random data of the training steps that both sides make: the same sentences, labels and learning rate."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import AdamW


class Sizes(NamedTuple):
    """The sizes of an encoder and of its batch."""

    layers: int
    heads: int
    width: int
    tokens: int
    batch: int


VOCABULARY, CLASSES = 1000, 2


def stepper(model: nn.Module, sizes: Sizes, precision: str) -> Callable[[], None]:
    """A call that makes one step of AdamW on the cross-entropy of one random batch, the same batch in each step."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(5, VOCABULARY, (sizes.batch, sizes.tokens), generator=generator)
    labels = torch.randint(0, CLASSES, (sizes.batch,), generator=generator)
    optimizer = AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            answers: Tensor = model(inputs)
        functional.cross_entropy(answers.float(), labels).backward()
        optimizer.step()

    return step
