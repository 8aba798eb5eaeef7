"""The precision of a run is measured: bf16 saves time where a processor has it, and takes many times as long where
it has to be imitated, as on most laptops.
"""

import sys
from time import perf_counter

from torch import distributed

from ..transformer import Transformer
from .step import PRECISIONS, Precision, gradients, rank
from .task import Task, device_of

ROUNDS = 3  # the first is slower than the others, which find their kernels and memory ready


def faster_precision(task: Task, model: Transformer, seed: int, batch_size: int) -> Precision:
    """The precision in which the gradients of the first batch take less time; on a GPU bf16, without a trial.

    Says on stderr what was found. All processes of a run must call it, and get the answer of the first.
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
    found = [min(PRECISIONS, key=shortest.__getitem__)]
    if distributed.is_initialized():
        distributed.broadcast_object_list(found)
    if rank() == 0:
        times = " and ".join(f"{1000 * shortest[name]:.3g} ms in {name}" for name in PRECISIONS)
        print(f"precision {found[0]}: the gradients of a step take {times}", file=sys.stderr)
    return found[0]
