"""The training loop: phases, steps, evaluations and snapshots.

bf16 is faster on processors that support it, and many times slower on others: the precision is chosen by timing it.
"""

import math
import sys
import time
from dataclasses import asdict
from time import perf_counter

import torch
from torch import distributed, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from tqdm import tqdm

from ..capture import evaluation_mode
from ..loaded import Loaded
from ..theory.digit_training import geometric_steps, learning_rate
from ..transformer import Transformer
from .estimate import estimate
from .estimate import n_steps as steps_of
from .recipes import Phase, Recipe
from .run_state import Progress, load_state, phase_of, save_state
from .snapshot import take_snapshot
from .step import (
    PRECISIONS,
    Precision,
    autocast,
    batches,
    gradients,
    make_optimizers,
    process_index,
    set_rate,
)
from .task import Task, device_of
from .training_setup import TrainingSetup

ROUNDS = 3  # the first is slower: it loads kernels and allocates memory


def faster_precision(task: Task, model: Transformer, seed: int, batch_size: int) -> Precision:
    """The precision, bf16 or fp32, in which the gradients of one batch are computed faster; on a GPU bf16, without timing.

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
    if process_index() == 0:
        times = " and ".join(f"{1000 * shortest_seconds[name]:.3g} ms in {name}" for name in PRECISIONS)
        print(f"precision {chosen_precision[0]}: the gradients of a step take {times}", file=sys.stderr)
    return chosen_precision[0]


SAVE_EVERY_S = 60


def train(
    recipe: Recipe, setup: TrainingSetup, precision: Precision | None = None, *, announced: bool = False
) -> tuple[Transformer, Progress]:
    """Runs all unfinished phases; returns the trained encoder, and the run's progress with its log, evaluations and snapshots.

    If `precision` is None, a resumed run keeps its precision and a new run uses the faster one. If `announced`, the
    expected time and memory are first printed on stderr. Raises ValueError if a run is to be resumed in another precision.
    """
    torch.manual_seed(recipe.seed)
    model = Transformer(setup.config).to(setup.device)
    _initialise(model, recipe)
    loaded = Loaded(
        name=recipe.preset, model=model, tokenizer=setup.tokenizer, history={}, device=setup.device
    )
    description = asdict(recipe) | {"config": setup.config.to_json()}
    if setup.start and not setup.state.exists():
        setup.start.fill(model)
        progress = setup.start.progress(description)
        optimizers = make_optimizers(model, recipe, _phase_index(recipe, progress.phase))
    else:
        optimizers = make_optimizers(model, recipe, _phase_index(recipe, phase_of(setup.state)))
        progress = load_state(setup.state, model, optimizers, description)
    if progress.precision is None:
        first_phase = recipe.phases[_phase_index(recipe, progress.phase)]
        progress.precision = precision or faster_precision(
            setup.tasks[first_phase.task], model, recipe.seed, first_phase.batch_size
        )
    elif precision not in (None, progress.precision):
        raise ValueError(
            f"{setup.state} is of a run in {progress.precision}, not {precision}; --fresh starts over"
        )
    if announced and progress.phase < len(recipe.phases):
        estimate_text = estimate(recipe, setup.tasks, model, progress.precision, progress.phase)
        if process_index() == 0:
            print(estimate_text, file=sys.stderr)
    while progress.phase < len(recipe.phases):
        _run_phase(recipe, recipe.phases[progress.phase], setup, loaded, optimizers, progress)
        progress.phase, progress.step = progress.phase + 1, 0
        # the moments of the optimisers start anew in each phase
        optimizers = make_optimizers(model, recipe, _phase_index(recipe, progress.phase))
        if process_index() == 0:
            save_state(setup.state, progress, model, optimizers)
    return model, progress


def _initialise(model: Transformer, recipe: Recipe) -> None:
    """Draws anew those weights of `model` for which the recipe has its own initialisation."""
    embedding = model.embedding
    if recipe.position_std is not None:
        for parameter in (embedding.position_table, embedding.class_token):
            assert parameter is not None, "recipes with this setup have learned positions and a class token"
            nn.init.normal_(parameter, std=recipe.position_std)
    if recipe.embedding_std is not None:
        nn.init.normal_(embedding.tokens.weight, std=recipe.embedding_std)
        if embedding.tokens.padding_idx is not None:
            nn.init.zeros_(embedding.tokens.weight[embedding.tokens.padding_idx])
    if recipe.linear_start == "torch":
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.reset_parameters()


def _phase_index(recipe: Recipe, phase: int) -> int:
    """The index `phase`, but at most that of the recipe's last phase: `phase` is their number if all are finished."""
    return min(phase, len(recipe.phases) - 1)


def _run_phase(
    recipe: Recipe,
    phase: Phase,
    setup: TrainingSetup,
    loaded: Loaded,
    optimizers: list[Optimizer],
    progress: Progress,
) -> None:
    """Trains one phase, from the step at which it was stopped."""
    task, model, precision = setup.tasks[phase.task], loaded.model, progress.precision
    assert precision is not None, "a run chooses its precision before its first step"
    batch_size = min(phase.batch_size, task.n_examples)
    n_steps = steps_of(phase, task, quick=recipe.quick)
    n_check = min(task.n_check, 50) if recipe.quick else task.n_check
    n_glance = min(task.n_glance, 50) if recipe.quick else task.n_glance
    snapshot_steps = set(geometric_steps(n_steps, recipe.n_moments))
    logged_steps = set(range(0, n_steps, max(1, n_steps // 400)))
    evaluation_steps = {n_steps * fraction // 20 - 1 for fraction in range(1, 21)}
    warmup = int(phase.warmup * n_steps)
    last_saved = time.monotonic()
    model.train(phase.dropout)  # dropout is all in which the two modes differ
    steps = range(progress.step, n_steps)
    progress_bar = tqdm(
        steps,
        desc=f"{recipe.preset}: {phase.task}",
        initial=progress.step,
        total=n_steps,
        disable=process_index() > 0,
        mininterval=1,
    )
    seed = recipe.seed + progress.phase  # so that two phases with one task have different batches
    for step, batch in zip(progress_bar, batches(task, seed, steps, batch_size), strict=True):
        current_rate = learning_rate(step, n_steps, phase.learning_rate, warmup, falls=phase.falls)
        set_rate(optimizers, current_rate, phase.weight_decay)
        loss = gradients(task, model, batch, (recipe.seed, progress.phase, step, process_index()), precision)
        if process_index() == 0 and step in snapshot_steps:
            accuracy = evaluate(task, model, n_glance, precision)["accuracy"]
            progress.add_snapshot(take_snapshot(loaded, setup.probes, progress.phase, step, accuracy))
        norm_before_clipping = clip_grad_norm_(model.parameters(), recipe.gradient_clip or math.inf)
        with autocast(setup.device, precision):
            for optimizer in optimizers:
                optimizer.step()
        location = {"phase": progress.phase, "step": step}
        if step in logged_steps:
            values = {"loss": loss.item(), "learning_rate": current_rate}
            progress.log.append(location | values | {"gradient_norm": norm_before_clipping.item()})
            progress_bar.set_postfix(loss=f"{loss.item():.3f}")
        progress.step = step + 1
        if process_index() == 0 and step in evaluation_steps:
            progress.evaluations.append(location | evaluate(task, model, n_check, precision))
            progress_bar.write(str(progress.evaluations[-1]), file=sys.stderr)
        if process_index() == 0 and (recipe.quick or time.monotonic() - last_saved > SAVE_EVERY_S):
            save_state(setup.state, progress, model, optimizers)
            last_saved = time.monotonic()


def evaluate(
    task: Task, model: Transformer, max_examples: int, precision: Precision
) -> dict[str, int | float]:
    """Held-out results of a task in evaluation mode, by name, computed in the precision of the training."""
    with torch.inference_mode(), evaluation_mode(model), autocast(device_of(model), precision):
        return task.evaluate(model, max_examples)
