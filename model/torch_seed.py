"""Random numbers that are the seed's, whatever other threads draw."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch

# torch draws the weights of every new layer from one generator for all threads. Whoever makes layers while the
# app runs does it in here, or takes numbers out of another session's sequence.
_drawing = Lock()


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Inside the `with`, torch's numbers on the CPU are those of the seed; afterwards they go on as before."""
    with _drawing, torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        yield
