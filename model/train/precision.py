"""Choice of a run's precision by timing: bf16 is faster on processors that support it, and many times slower
elsewhere.
"""

import sys
from time import perf_counter

from torch import distributed

from ..transformer import Transformer
from .step import PRECISIONS, Precision, gradients, rank
from .task import Task, device_of

ROUNDS = 3  # the first is slower: it loads kernels and allocates memory


def faster_precision(task: Task, model: Transformer, seed: int, batch_size: int) -> Precision:
    """Precision in which the gradients of one batch take less time; bf16 on a GPU, without timing.

    Prints the times on stderr. All processes of a run must call it, and get the result of the first.
    """
    if device_of(model).type != "cpu":
        return "bf16"
    batch = task.batch(seed, 0, min(batch_size, task.n_examples))
    shortest = dict.fromkeys(PRECISIONS, float("inf"))  # seconds
    for _ in range(ROUNDS):
        for precision in PRECISIONS:
            start = perf_counter()
            gradients(task, model, batch, seed, precision)
            shortest[precision] = min(shortest[precision], perf_counter() - start)
    model.zero_grad()
    fastest = [min(PRECISIONS, key=shortest.__getitem__)]
    if distributed.is_initialized():
        distributed.broadcast_object_list(fastest)
    if rank() == 0:
        times = " and ".join(f"{1000 * shortest[name]:.3g} ms in {name}" for name in PRECISIONS)
        print(f"precision {fastest[0]}: the gradients of a step take {times}", file=sys.stderr)
    return fastest[0]
