"""One training step: its batch, gradients and optimisers, Muon among them; gradients are averaged over processes."""

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, distributed
from torch.optim import AdamW, Optimizer

from ..transformer import Transformer
from .recipes import Recipe
from .task import Batch, Task, device_of

MOMENTUM = 0.95
POLYNOMIAL = 3.4445, -4.775, 2.0315  # coefficients of odd powers; iterated, they bring singular values near 1
N_ITERATIONS = 5


class Muon(Optimizer):
    """Like torch.optim.Muon with `adjust_lr_fn="match_rms_adamw"`, but matrices are multiplied in the precision of autocast.

    The version in torch always multiplies in bf16, which many processors emulate slowly. Every parameter must be
    a matrix.
    """

    def __init__(self, groups: list[dict]) -> None:
        super().__init__(groups, {"lr": 1e-3, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]  # no closure: the loop computes the gradients
        """Makes one optimisation step with the gradients of the parameters."""
        for group in self.param_groups:
            rate, decay = group["lr"], group["weight_decay"]
            for parameter in (p for p in group["params"] if p.grad is not None):
                state = self.state[parameter]
                momentum = state.setdefault("momentum_buffer", torch.zeros_like(parameter))
                momentum.lerp_(parameter.grad, 1 - MOMENTUM)
                update = orthogonalise(parameter.grad.lerp(momentum, MOMENTUM))  # Nesterov's look ahead
                scale = 0.2 * math.sqrt(max(parameter.shape))  # which makes its entries as large as AdamW's
                parameter.mul_(1 - rate * decay).add_(update, alpha=-rate * scale)


def orthogonalise(matrix: Float[Tensor, "row column"]) -> Float[Tensor, "row column"]:
    """The orthogonal matrix U Vᵀ of the singular value decomposition U S Vᵀ, approximately: singular values are 0.7 to 1.2."""
    if matrix.shape[0] > matrix.shape[1]:
        return orthogonalise(matrix.T).T
    first, third, fifth = POLYNOMIAL
    x = matrix / matrix.norm().clamp(min=1e-7)
    for _ in range(N_ITERATIONS):
        gram_matrix = x @ x.T
        x = torch.addmm(
            x, torch.addmm(gram_matrix, gram_matrix, gram_matrix, beta=third, alpha=fifth), x, beta=first
        )
    return x


Precision = Literal["bf16", "fp32"]
PRECISIONS: tuple[Precision, ...] = ("bf16", "fp32")


def autocast(device: torch.device, precision: Precision) -> AbstractContextManager:
    """Context manager in which matrices are multiplied in `precision`; the weights stay in float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16")


def batches(task: Task, seed: int, steps: range, size: int) -> Iterator[Batch]:
    """Yields the batch of each step, while a thread prepares the next one."""
    with ThreadPoolExecutor(1) as executor:
        pending_batches = [executor.submit(task.batch, seed, step, size) for step in steps[:1]]
        for step in steps:
            if step + 1 in steps:
                pending_batches.append(executor.submit(task.batch, seed, step + 1, size))
            yield pending_batches.pop(0).result()


def gradients(
    task: Task, model: Transformer, batch: Batch, seed: int | tuple[int, ...], precision: Precision
) -> Float[Tensor, ""]:
    """Loss of one batch; its gradient is stored in the parameters. `seed` determines the dropout."""
    device = device_of(model)
    # A process takes its share of the batch that a single one would take whole.
    batch = tuple(values[process_index() :: world_size()].to(device) for values in batch)
    torch.manual_seed(int(np.random.SeedSequence(seed).generate_state(1)[0]))
    model.zero_grad()
    with autocast(device, precision):
        loss = task.loss(model, batch)
    loss.backward()
    loss = loss.detach()
    if world_size() > 1:
        distributed.all_reduce(loss)
        loss /= world_size()
        for parameter in model.parameters():
            if parameter.grad is not None:
                distributed.all_reduce(parameter.grad)
                parameter.grad /= world_size()
    return loss


def make_optimizers(model: Transformer, recipe: Recipe, phase: int) -> list[Optimizer]:
    """Optimisers of the phase with index `phase`, which together hold every parameter.

    Weight decay applies to matrices only, not to biases, norms and embeddings.
    """
    embeddings = set(model.embedding.parameters())
    matrices = [p for p in model.parameters() if p.ndim > 1 and p not in embeddings]
    muon_parameters = set()
    if recipe.phases[phase].optimizer == "muon":
        muon_parameters = {p for block in model.blocks for p in block.parameters() if p.ndim == 2}
    parameter_groups = [
        {"params": [p for p in matrices if p not in muon_parameters], "decays": True},
        {"params": [p for p in model.parameters() if p not in set(matrices)], "decays": False},
    ]
    optimizers: list[Optimizer] = [AdamW(parameter_groups, betas=recipe.betas, fused=True)]
    if muon_parameters:
        # in the order of the model, which a set does not keep
        muon_matrices = [p for p in matrices if p in muon_parameters]
        optimizers.append(Muon([{"params": muon_matrices, "decays": True}]))
    return optimizers


def set_rate(optimizers: Iterable[Optimizer], learning_rate: float, weight_decay: float) -> None:
    """Sets learning rate and weight decay of all parameter groups."""
    for group in (group for optimizer in optimizers for group in optimizer.param_groups):
        group["lr"] = learning_rate
        group["weight_decay"] = weight_decay if group["decays"] else 0.0


def mean_over_processes(n: Tensor) -> Tensor:
    """Mean of the count `n` over all processes.

    If each process divides its sum over examples by this mean, then the mean over processes, which `gradients` computes, is the
    mean over the examples of all processes.
    """
    n = n.float()
    if world_size() > 1:
        distributed.all_reduce(n)
        n /= world_size()
    return n


def process_index() -> int:
    """Index of this process, from 0; 0 if there is only one."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def world_size() -> int:
    """Number of processes that train together; 1 unless torch.distributed is initialised."""
    return distributed.get_world_size() if distributed.is_initialized() else 1
