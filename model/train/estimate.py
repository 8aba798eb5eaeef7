"""What a run will take, said before it begins: time by phase, and memory."""

import importlib
import sys
from time import perf_counter

import torch

from ..theory.learning_rate import steps_per_epoch
from ..transformer import Transformer
from .recipes import Phase, Recipe
from .step import Precision, gradients
from .task import Task, device_of

TIMED = 2  # steps of each phase; the first one finds kernels and memory


def n_steps(phase: Phase, task: Task, *, quick: bool) -> int:
    """Of a phase; a quick run takes at most 40."""
    size = min(phase.batch_size, task.n_examples)
    steps = max(1, int(phase.epochs * steps_per_epoch(task.n_examples, size, drop_last=task.drop_last)))
    return min(steps, 40) if quick else steps


def estimate(
    recipe: Recipe, tasks: dict[str, Task], model: Transformer, precision: Precision, first: int
) -> str:
    """A line for each phase from `first` on, and one for all: the time of the steps alone, without what is
    evaluated and filmed on the way. Every process of a run must call it, since a step takes all of them.
    """
    model.train()
    lines, whole = [], 0.0
    for phase in recipe.phases[first:]:
        task = tasks[phase.task]
        batch = task.batch(recipe.seed, 0, min(phase.batch_size, task.n_examples))
        for _ in range(TIMED):
            start = perf_counter()
            gradients(task, model, batch, recipe.seed, precision)
            seconds = perf_counter() - start
        steps = n_steps(phase, task, quick=recipe.quick)
        whole += steps * seconds
        lines.append(
            f"{phase.task}: {steps} steps of {1000 * seconds:.3g} ms, {steps * seconds / 60:.2g} min"
        )
    model.zero_grad()
    lines.append(
        f"about {whole / 60:.2g} min in all, held-out examples not counted{_memory(device_of(model))}"
    )
    return "\n".join(lines)


def _memory(device: torch.device) -> str:
    """The most that the process has held so far, on the GPU where it trains there."""
    if device.type == "cuda":
        return f"; {torch.cuda.max_memory_allocated() / 1e9:.2g} GB of the GPU's memory"
    try:
        usage = importlib.import_module("resource")
    except ImportError:  # there is none on Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return f"; {usage.getrusage(usage.RUSAGE_SELF).ru_maxrss * unit / 1e9:.2g} GB of memory"
