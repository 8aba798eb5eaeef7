"""The Muon optimiser (Jordan et al. 2024): momentum whose update is orthogonalised."""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim import Optimizer

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
