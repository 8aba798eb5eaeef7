from dataclasses import replace

import pytest
import torch
from torch import nn

from model.train.recipes import Phase, Recipe
from model.train.step import PRECISIONS, Muon, batches, gradients, make_optimizers, orthogonalise, set_rate
from tests.model.tiny import TEXT, build


class Counting:
    """Batches that say which step they belong to; the loss is the model's on them."""

    n_examples, n_glance, n_check, drop_last = 8, 1, 1, True

    def __init__(self) -> None:
        self.made = []

    def batch(self, seed, step, size):  # noqa: ARG002
        self.made.append(step)
        return (torch.full((size, 3), step + 5),)

    def loss(self, model, batch):
        return model(batch[0]).square().mean()

    def evaluate(self, model, max_examples):  # noqa: ARG002
        return {"n": max_examples}


def recipe(optimizer: str) -> Recipe:
    phase = Phase(task="sentiment", epochs=1, batch_size=2, learning_rate=1e-2, optimizer=optimizer)
    return Recipe(preset="imdb-pre-ln", phases=(replace(phase, optimizer="adamw"), phase))


def test_every_step_gets_its_own_batch_once():
    task = Counting()
    firsts = [batch[0][0, 0].item() for batch in batches(task, 0, range(3, 7), 2)]
    assert firsts == [8, 9, 10, 11]
    assert task.made == [3, 4, 5, 6]


def test_no_steps_make_no_batch():
    task = Counting()
    assert list(batches(task, 0, range(4, 4), 2)) == []
    assert task.made == []


def test_an_error_in_making_a_batch_is_raised():
    class Broken(Counting):
        def batch(self, *_):
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(batches(Broken(), 0, range(2), 2))


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_every_parameter_is_in_one_optimizer_and_changes(optimizer):
    model = build(TEXT)
    made = make_optimizers(model, recipe(optimizer), phase=1)
    held = [p for one in made for group in one.param_groups for p in group["params"]]
    assert sorted(map(id, held)) == sorted(map(id, model.parameters()))
    before = [p.detach().clone() for p in model.parameters()]
    set_rate(made, 1e-2, 0.0)
    gradients(Counting(), model, (torch.full((4, 3), 7),), 0, "fp32")
    moved = [p.grad is not None and bool(p.grad.any()) for p in model.parameters()]
    for one in made:
        one.step()
    changed = [not torch.equal(p, old) for p, old in zip(model.parameters(), before, strict=True)]
    assert any(moved)
    assert all(now for now, had in zip(changed, moved, strict=True) if had)


def test_muon_takes_the_matrices_of_the_blocks_and_nothing_else():
    model = build(TEXT)
    _, muon = make_optimizers(model, recipe("muon"), phase=1)
    held = {id(p) for group in muon.param_groups for p in group["params"]}
    assert held == {id(p) for name, p in model.named_parameters() if "blocks." in name and p.ndim == 2}


def test_weight_decay_leaves_biases_norms_and_embeddings_alone():
    model = build(TEXT)
    made = make_optimizers(model, recipe("adamw"), phase=1)
    set_rate(made, 1e-3, 0.5)
    decayed = {
        id(p) for one in made for group in one.param_groups if group["weight_decay"] for p in group["params"]
    }
    names = {name for name, p in model.named_parameters() if id(p) in decayed}
    assert names == {
        name for name, p in model.named_parameters() if p.ndim == 2 and not name.startswith("embedding.")
    }


@pytest.mark.parametrize("precision", PRECISIONS)
def test_gradient_is_that_of_the_loss(precision):
    model, task = build(TEXT), Counting()
    batch = task.batch(0, 1, 4)
    loss = gradients(task, model, batch, 0, precision)
    own = model.classifier.weight.grad.clone()
    model.zero_grad()
    expected = task.loss(model, batch)
    expected.backward()
    if precision == "fp32":
        assert torch.equal(loss, expected)
        assert torch.equal(own, model.classifier.weight.grad)
    else:  # which keeps 8 bits of a number where float32 keeps 24
        assert loss.item() == pytest.approx(expected.item(), rel=0.05)
        torch.testing.assert_close(own, model.classifier.weight.grad, rtol=0.1, atol=0.02)
        assert not torch.equal(own, model.classifier.weight.grad)


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
