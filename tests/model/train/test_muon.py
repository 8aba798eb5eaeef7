"""Against that of torch, which multiplies matrices in bf16."""

import pytest
import torch
from torch import nn

from model.train.muon import Muon, orthogonalise

SHAPES = ((6, 6), (4, 9), (9, 4))


def steps(make, is_bf16: bool) -> list[torch.Tensor]:
    """The parameters after three steps with the same gradients."""
    random = torch.Generator().manual_seed(0)
    parameters = [nn.Parameter(torch.randn(shape, generator=random)) for shape in SHAPES]
    optimizer = make([{"params": parameters}])
    for group in optimizer.param_groups:
        group |= {"lr": 0.02, "weight_decay": 0.1}
    for _ in range(3):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape, generator=random)
        with torch.autocast("cpu", torch.bfloat16, enabled=is_bf16):
            optimizer.step()
    return [parameter.detach() for parameter in parameters]


@pytest.mark.parametrize("is_bf16", [False, True])
def test_it_is_the_muon_of_torch(is_bf16):
    theirs = steps(lambda groups: torch.optim.Muon(groups, adjust_lr_fn="match_rms_adamw"), False)
    # A step moves an entry by at most 0.02 · 0.2 · 3 · 1.2, and bf16 keeps 8 bits of each of some 20 products.
    for ours, their in zip(steps(Muon, is_bf16), theirs, strict=True):
        torch.testing.assert_close(ours, their, rtol=0, atol=3 * 0.02 * 0.2 * 3 * 0.05)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values_come_near_one_and_directions_stay(shape):
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float32)
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    result = u.T @ orthogonalise(matrix) @ v.T
    values = result.diagonal()
    assert ((values > 0.6) & (values < 1.25)).all()
    torch.testing.assert_close(result, values.diag(), rtol=0, atol=1e-4)


def test_a_parameter_without_a_gradient_stays():
    parameter = nn.Parameter(torch.ones(2, 2))
    optimizer = Muon([{"params": [parameter]}])
    optimizer.step()
    assert torch.equal(parameter, torch.ones(2, 2))
    assert not optimizer.state
