"""Trains both digit encoders briefly over a grid of learning rates and warm-ups.

    python -m model.train.warmup --data FOLDER

Runs that the file already holds are not repeated, so the command can be stopped and started again. All runs in a file have
the same precision.
"""

import argparse
import itertools
import json
import math
import os
from dataclasses import asdict
from pathlib import Path

import torch
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from ..checkpoint import CHECKPOINTS
from ..checkpoint.load_or_download import exit_with_one_sentence
from ..config import preset
from ..device import find_device
from ..files.content import replace_text
from ..theory.digit_training import (
    GRID_BATCH_SIZE,
    LAST_STEPS,
    N_JUDGED,
    RUNS,
    WarmupRun,
    learning_rate,
    read_runs,
)
from ..transformer import Transformer
from .loop import evaluate, faster_precision
from .prepare import prepare
from .recipes import recipe
from .step import PRECISIONS, Precision, autocast, batches, gradients, make_optimizers, set_rate
from .training_setup import TrainingSetup

PRESETS = ("mnist-pre-ln", "mnist-post-ln")
LEARNING_RATES = (1e-3, 3e-3, 1e-2)
WARMUPS = (0, 30, 100)
N_STEPS = 300


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.train.warmup", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS / RUNS, help="the file of the runs")
    parser.add_argument("--device", default="auto")
    parser.add_argument(
        "--precision", choices=("auto", *PRECISIONS), default="auto", help="auto takes what is faster here"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)))
    with exit_with_one_sentence("model.train.warmup"):
        precision = None if arguments.precision == "auto" else arguments.precision
        train_missing_runs(arguments.data, arguments.out, find_device(arguments.device), precision)


def train_missing_runs(
    data: Path, out: Path, device: torch.device, precision: Precision | None = None
) -> None:
    """Trains those runs of the grid that the file `out` does not hold yet, and adds each to the file when it ends.

    If `precision` is None, it is that of the runs in the file, or else the faster one. Raises ValueError if the file holds
    runs in another precision.
    """
    runs = read_runs(out)
    other_precisions = {run.precision for run in runs} - {precision}
    if precision and other_precisions:
        raise ValueError(
            f"{out} holds runs in {', '.join(other_precisions)}, not {precision}; --out names another file"
        )
    precision = precision or (runs[0].precision if runs else None)
    finished_cells = {(run.norm_placement, run.learning_rate, run.warmup) for run in runs}
    grid = itertools.product(PRESETS, LEARNING_RATES, WARMUPS)
    missing_cells = [
        cell for cell in grid if (preset(cell[0]).norm_placement, *cell[1:]) not in finished_cells
    ]
    if not missing_cells:
        print(f"all runs are in {out} already; --out names another file")
    for name, rate, warmup in missing_cells:
        setup = prepare(recipe(name), data, Path("runs"), device)
        if precision is None:
            model = Transformer(setup.config).to(setup.device)
            precision = faster_precision(setup.tasks["digits"], model, recipe(name).seed, GRID_BATCH_SIZE)
        runs.append(warmup_run(name, setup, rate, warmup, precision=precision))
        write_runs(out, runs)


def warmup_run(
    name: str, setup: TrainingSetup, peak: float, warmup: int, *, precision: Precision, n_steps: int = N_STEPS
) -> WarmupRun:
    """Trains an encoder by the recipe `name` for `n_steps` steps, and returns the run.

    The learning rate grows to `peak` during the first `warmup` steps, and stays there.
    """
    base_recipe, task = recipe(name), setup.tasks["digits"]
    phase = base_recipe.phases[0]
    torch.manual_seed(base_recipe.seed)
    model = Transformer(setup.config).to(setup.device)
    optimizers = make_optimizers(model, base_recipe, phase=0)
    losses = []
    progress_bar = tqdm(range(n_steps), desc=f"{name}, {peak:g}, warm-up of {warmup} steps", mininterval=1)
    batch_size = min(GRID_BATCH_SIZE, task.n_examples)
    for step, batch in zip(
        progress_bar, batches(task, base_recipe.seed, range(n_steps), batch_size), strict=True
    ):
        set_rate(optimizers, learning_rate(step, n_steps, peak, warmup, falls=False), phase.weight_decay)
        losses.append(gradients(task, model, batch, (base_recipe.seed, step), precision).item())
        clip_grad_norm_(model.parameters(), base_recipe.gradient_clip or math.inf)
        with autocast(setup.device, precision):
            for optimizer in optimizers:
                optimizer.step()
    logged_steps = range(0, n_steps, max(1, n_steps // 100))
    last_losses = losses[-LAST_STEPS:]
    final_loss = _none_if_not_finite(sum(last_losses) / len(last_losses))
    return WarmupRun(
        norm_placement=setup.config.norm_placement,
        learning_rate=peak,
        warmup=warmup,
        n_steps=n_steps,
        steps=tuple(logged_steps),
        losses=tuple(_none_if_not_finite(losses[step]) for step in logged_steps),
        final_loss=final_loss,
        accuracy=None if final_loss is None else evaluate(task, model, N_JUDGED, precision)["accuracy"],
        precision=precision,
    )


def _none_if_not_finite(value: float) -> float | None:
    """The value, or None if it is NaN or infinite, since JSON has no such numbers."""
    return value if math.isfinite(value) else None


def write_runs(path: Path, runs: list[WarmupRun]) -> None:
    """Writes the runs as JSON, one per line."""
    rows = ",\n".join(json.dumps(asdict(run), allow_nan=False) for run in runs)  # a line a run
    replace_text(path, f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main()
