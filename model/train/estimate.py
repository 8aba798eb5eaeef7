"""Estimates the time and memory of a training run before it begins."""

import importlib
import sys
from time import perf_counter

import torch

from ..theory.digit_training import steps_per_epoch
from ..transformer import Transformer
from .recipes import Phase, Recipe
from .step import Precision, gradients
from .task import Task, device_of

TIMED = 2  # steps of each phase; the first one also loads kernels and allocates memory


def n_steps(phase: Phase, task: Task, *, quick: bool) -> int:
    """Number of steps of a phase; at most 40 in a quick run."""
    batch_size = min(phase.batch_size, task.n_examples)
    n_phase_steps = max(
        1, int(phase.epochs * steps_per_epoch(task.n_examples, batch_size, drop_last=task.drop_last))
    )
    return min(n_phase_steps, 40) if quick else n_phase_steps


def estimate(
    recipe: Recipe, tasks: dict[str, Task], model: Transformer, precision: Precision, first: int
) -> str:
    """Text with the expected time of each phase from index `first` on, one line each, the time of all, and the memory needed.

    Only training steps are counted, not evaluations and snapshots. In a run of several processes all must call this
    function.
    """
    model.train()
    lines, total_seconds = [], 0.0
    for phase in recipe.phases[first:]:
        task = tasks[phase.task]
        batch = task.batch(recipe.seed, 0, min(phase.batch_size, task.n_examples))
        for _ in range(TIMED):
            start = perf_counter()
            gradients(task, model, batch, recipe.seed, precision)
            seconds = perf_counter() - start
        n_phase_steps = n_steps(phase, task, quick=recipe.quick)
        total_seconds += n_phase_steps * seconds
        lines.append(
            f"{phase.task}: {n_phase_steps} steps of {1000 * seconds:.3g} ms, {n_phase_steps * seconds / 60:.2g} min"
        )
    model.zero_grad()
    lines.append(
        f"about {total_seconds / 60:.2g} min in all, held-out examples not counted{_memory_phrase(device_of(model))}"
    )
    return "\n".join(lines)


def _memory_phrase(device: torch.device) -> str:
    """Phrase with the peak memory of the process so far, on the GPU if it trains there."""
    if device.type == "cuda":
        return f"; {torch.cuda.max_memory_allocated() / 1e9:.2g} GB of the GPU's memory"
    try:
        usage = importlib.import_module("resource")
    except ImportError:  # there is none on Windows
        return ""
    bytes_per_unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return f"; {usage.getrusage(usage.RUSAGE_SELF).ru_maxrss * bytes_per_unit / 1e9:.2g} GB of memory"
