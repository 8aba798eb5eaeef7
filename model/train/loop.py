"""The training loop: phases, steps, and what is recorded on the way."""

import sys
import time

import numpy as np
import torch
from torch import distributed
from torch.optim import AdamW, Optimizer
from tqdm import tqdm

from model.capture import evaluating
from model.checkpoint import Loaded
from model.train.film import shot
from model.train.recipe import Phase, Recipe
from model.train.schedule import learning_rate, moments
from model.train.setting import Setting
from model.train.state import Progress, load_state, save_state
from model.train.tasks import Task
from model.transformer import Transformer

SAVE_EVERY_S = 60


def train(recipe: Recipe, setting: Setting) -> tuple[Transformer, Progress]:
    """Runs every phase that is not done yet, and returns the trained encoder with what was recorded."""
    torch.manual_seed(recipe.seed)
    model = Transformer(setting.config).to(setting.device)
    loaded = Loaded(
        name=recipe.preset, model=model, tokenizer=setting.tokenizer, history={}, device=setting.device
    )
    optimizer = _optimizer(model, recipe)
    described = recipe.to_json() | {"config": setting.config.to_json()}
    progress = load_state(setting.state, model, optimizer, described)
    while progress.phase < len(recipe.phases):
        _run_phase(recipe, recipe.phases[progress.phase], setting, loaded, optimizer, progress)
        progress.phase, progress.step = progress.phase + 1, 0
        optimizer = _optimizer(model, recipe)  # each phase begins with moments of its own
        if _rank() == 0:
            save_state(setting.state, progress, model, optimizer)
    return model, progress


def _run_phase(
    recipe: Recipe, phase: Phase, setting: Setting, loaded: Loaded, optimizer: Optimizer, progress: Progress
) -> None:
    task, model = setting.tasks[phase.task], loaded.model
    size = min(phase.batch_size, task.n_examples)
    n_steps = max(1, int(phase.epochs * (task.n_examples // size)))
    n_steps = min(n_steps, 40) if recipe.quick else n_steps
    n_check = min(task.n_check, 50) if recipe.quick else task.n_check
    n_glance = min(task.n_glance, 50) if recipe.quick else task.n_glance
    filmed, logged = set(moments(n_steps, recipe.n_moments)), set(range(0, n_steps, max(1, n_steps // 400)))
    evaluated = {n_steps * part // 20 - 1 for part in range(1, 21)}
    warmup = max(1, int(phase.warmup * n_steps))
    saved = time.monotonic()
    model.train(phase.dropout)  # nothing but dropout tells the two modes apart
    bar = tqdm(
        range(progress.step, n_steps),
        desc=f"{recipe.preset}: {phase.task}",
        initial=progress.step,
        total=n_steps,
        disable=_rank() > 0,
        mininterval=1,
    )
    for step in bar:
        rate = learning_rate(step, n_steps, phase.learning_rate, warmup)
        loss, norm = _gradients(task, model, recipe, progress.phase, step, size)
        if _rank() == 0 and step in filmed:
            accuracy = evaluate(task, model, n_glance)["accuracy"]
            progress.add_shot(shot(loaded, setting.probes, progress.phase, step, accuracy))
        for group in optimizer.param_groups:
            group["lr"] = rate
            group["weight_decay"] = phase.weight_decay if group["decays"] else 0.0
        optimizer.step()
        here = {"phase": progress.phase, "step": step}
        if step in logged:
            progress.log.append(here | {"loss": loss, "learning_rate": rate, "gradient_norm": norm})
            bar.set_postfix(loss=f"{loss:.3f}")
        progress.step = step + 1
        if _rank() == 0 and step in evaluated:
            progress.evaluations.append(here | evaluate(task, model, n_check))
            bar.write(str(progress.evaluations[-1]), file=sys.stderr)
        if _rank() == 0 and (recipe.quick or time.monotonic() - saved > SAVE_EVERY_S):
            save_state(setting.state, progress, model, optimizer)
            saved = time.monotonic()


def _gradients(
    task: Task, model: Transformer, recipe: Recipe, phase: int, step: int, size: int
) -> tuple[float, float]:
    """Loss and gradient of one batch, the gradient clipped; returns the loss, and the norm before clipping."""
    device = next(model.parameters()).device
    # A process takes its share of the batch that a single one would take whole.
    batch = tuple(values[_rank() :: _world()].to(device) for values in task.batch(recipe.seed, step, size))
    seed = np.random.SeedSequence((recipe.seed, phase, step, _rank()))
    torch.manual_seed(int(seed.generate_state(1)[0]))  # for dropout
    model.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = task.loss(model, batch)
    loss.backward()
    _average_gradients(model)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.gradient_clip)
    return loss.item(), norm.item()


def _optimizer(model: Transformer, recipe: Recipe) -> AdamW:
    """Weight decay on matrices alone, not on biases, norms and embeddings."""
    embeddings = set(model.embedding.parameters())
    decays = {p: p.ndim > 1 and p not in embeddings for p in model.parameters()}
    groups = [
        {"params": [p for p in model.parameters() if decays[p] == wanted], "decays": wanted}
        for wanted in (True, False)
    ]
    return AdamW(groups, betas=recipe.betas, fused=True)


def evaluate(task: Task, model: Transformer, at_most: int) -> dict[str, int | float]:
    """In evaluation mode and, as in training, in bf16."""
    bf16 = torch.autocast(next(model.parameters()).device.type, torch.bfloat16)
    with torch.inference_mode(), evaluating(model), bf16:
        return task.evaluate(model, at_most)


def _average_gradients(model: Transformer) -> None:
    if _world() == 1:
        return
    for parameter in model.parameters():
        if parameter.grad is not None:
            distributed.all_reduce(parameter.grad)
            parameter.grad /= _world()


def _rank() -> int:
    return distributed.get_rank() if distributed.is_initialized() else 0


def _world() -> int:
    return distributed.get_world_size() if distributed.is_initialized() else 1
