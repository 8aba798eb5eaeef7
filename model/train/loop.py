"""The training loop: phases, steps, and what is recorded on the way."""

import math
import sys
import time

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer
from tqdm import tqdm

from model.capture import evaluating
from model.checkpoint import Loaded
from model.train.film import shot
from model.train.recipe import Phase, Recipe
from model.train.schedule import learning_rate, moments
from model.train.setting import Setting
from model.train.state import Progress, load_state, phase_of, save_state
from model.train.step import batches, gradients, rank, set_rate
from model.train.step import optimizers as make_optimizers
from model.train.tasks import Task
from model.transformer import Transformer

SAVE_EVERY_S = 60


def train(recipe: Recipe, setting: Setting) -> tuple[Transformer, Progress]:
    """Runs every phase that is not done yet, and returns the trained encoder with what was recorded."""
    torch.manual_seed(recipe.seed)
    model = Transformer(setting.config).to(setting.device)
    if recipe.position_std is not None:
        for start in (model.embedding.position_table, model.embedding.class_token):
            nn.init.normal_(start, std=recipe.position_std)
    loaded = Loaded(
        name=recipe.preset, model=model, tokenizer=setting.tokenizer, history={}, device=setting.device
    )
    described = recipe.to_json() | {"config": setting.config.to_json()}
    if setting.start and not setting.state.exists():
        setting.start.fill(model)
        progress = setting.start.progress(described)
        optimizers = make_optimizers(model, recipe, progress.phase)
    else:
        optimizers = make_optimizers(model, recipe, min(phase_of(setting.state), len(recipe.phases) - 1))
        progress = load_state(setting.state, model, optimizers, described)
    while progress.phase < len(recipe.phases):
        _run_phase(recipe, recipe.phases[progress.phase], setting, loaded, optimizers, progress)
        progress.phase, progress.step = progress.phase + 1, 0
        # each phase begins with moments of its own
        optimizers = make_optimizers(model, recipe, min(progress.phase, len(recipe.phases) - 1))
        if rank() == 0:
            save_state(setting.state, progress, model, optimizers)
    return model, progress


def _run_phase(
    recipe: Recipe,
    phase: Phase,
    setting: Setting,
    loaded: Loaded,
    optimizers: list[Optimizer],
    progress: Progress,
) -> None:
    task, model = setting.tasks[phase.task], loaded.model
    size = min(phase.batch_size, task.n_examples)
    n_steps = max(1, int(phase.epochs * (task.n_examples // size)))
    n_steps = min(n_steps, 40) if recipe.quick else n_steps
    n_check = min(task.n_check, 50) if recipe.quick else task.n_check
    n_glance = min(task.n_glance, 50) if recipe.quick else task.n_glance
    filmed, logged = set(moments(n_steps, recipe.n_moments)), set(range(0, n_steps, max(1, n_steps // 400)))
    evaluated = {n_steps * part // 20 - 1 for part in range(1, 21)}
    warmup = int(phase.warmup * n_steps)
    saved = time.monotonic()
    model.train(phase.dropout)  # nothing but dropout tells the two modes apart
    bar = tqdm(
        range(progress.step, n_steps),
        desc=f"{recipe.preset}: {phase.task}",
        initial=progress.step,
        total=n_steps,
        disable=rank() > 0,
        mininterval=1,
    )
    steps = range(progress.step, n_steps)
    seed = recipe.seed + progress.phase  # a phase with the task of an earlier one has batches of its own
    for step, batch in zip(bar, batches(task, seed, steps, size), strict=True):
        rate = learning_rate(step, n_steps, phase.learning_rate, warmup, falls=phase.falls)
        set_rate(optimizers, rate, phase.weight_decay)
        loss = gradients(task, model, batch, (recipe.seed, progress.phase, step, rank()))
        if rank() == 0 and step in filmed:
            accuracy = evaluate(task, model, n_glance)["accuracy"]
            progress.add_shot(shot(loaded, setting.probes, progress.phase, step, accuracy))
        norm = clip_grad_norm_(model.parameters(), recipe.gradient_clip or math.inf)  # as it was before
        for optimizer in optimizers:
            optimizer.step()
        here = {"phase": progress.phase, "step": step}
        if step in logged:
            progress.log.append(
                here | {"loss": loss.item(), "learning_rate": rate, "gradient_norm": norm.item()}
            )
            bar.set_postfix(loss=f"{loss.item():.3f}")
        progress.step = step + 1
        if rank() == 0 and step in evaluated:
            progress.evaluations.append(here | evaluate(task, model, n_check))
            bar.write(str(progress.evaluations[-1]), file=sys.stderr)
        if rank() == 0 and (recipe.quick or time.monotonic() - saved > SAVE_EVERY_S):
            save_state(setting.state, progress, model, optimizers)
            saved = time.monotonic()


def evaluate(task: Task, model: Transformer, at_most: int) -> dict[str, int | float]:
    """In evaluation mode and, as in training, in bf16."""
    bf16 = torch.autocast(next(model.parameters()).device.type, torch.bfloat16)
    with torch.inference_mode(), evaluating(model), bf16:
        return task.evaluate(model, at_most)
