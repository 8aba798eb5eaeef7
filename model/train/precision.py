"""Chooses the precision of a training run by timing it.

bf16 is faster on processors that support it, and many times slower on others.
"""

import sys
from time import perf_counter

from torch import distributed

from ..transformer import Transformer
from .step import PRECISIONS, Precision, gradients, rank
from .task import Task, device_of

ROUNDS = 3  # the first is slower: it loads kernels and allocates memory


def faster_precision(task: Task, model: Transformer, seed: int, batch_size: int) -> Precision:
    """The precision in which the gradients of one batch take less time; on a GPU bf16, without timing.

    Prints the times on stderr. In a run of several processes all must call this function; they get the result of the first.
    """
    if device_of(model).type != "cpu":
        return "bf16"
    batch = task.batch(seed, 0, min(batch_size, task.n_examples))
    shortest_seconds = dict.fromkeys(PRECISIONS, float("inf"))  # seconds
    for _ in range(ROUNDS):
        for precision in PRECISIONS:
            start = perf_counter()
            gradients(task, model, batch, seed, precision)
            shortest_seconds[precision] = min(shortest_seconds[precision], perf_counter() - start)
    model.zero_grad()
    chosen_precision = [min(PRECISIONS, key=shortest_seconds.__getitem__)]
    if distributed.is_initialized():
        distributed.broadcast_object_list(chosen_precision)
    if rank() == 0:
        times = " and ".join(f"{1000 * shortest_seconds[name]:.3g} ms in {name}" for name in PRECISIONS)
        print(f"precision {chosen_precision[0]}: the gradients of a step take {times}", file=sys.stderr)
    return chosen_precision[0]
