"""Reproducible random numbers of torch, even if several threads draw random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

# torch draws the weights of every new layer from one generator for all threads, so layers are made inside `torch_seed`:
# elsewhere they would take numbers from another session's sequence.
_drawing = Lock()


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Context manager: seeds torch's random numbers on the CPU inside the `with`; afterwards the former sequence continues."""
    with _drawing, torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        yield
