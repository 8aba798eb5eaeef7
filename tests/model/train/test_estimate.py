import pytest
import torch

from model.train import estimate as module
from model.train.estimate import estimate, n_steps
from model.train.recipes import Phase, Recipe
from tests.model import tiny

FAST = Phase(task="sentiment", epochs=2, batch_size=4, learning_rate=1e-3)
SLOW = Phase(task="masked tokens", epochs=0.5, batch_size=4, learning_rate=1e-3)


class Timed:
    """A step of it takes `seconds` of the clock."""

    n_examples, n_glance, n_check, drop_last = 240, 1, 1, True

    def __init__(self, seconds: float, clock: list[float]) -> None:
        self.seconds, self.clock = seconds, clock

    def batch(self, seed, step, size):  # noqa: ARG002
        return (torch.full((size, 3), 5),)

    def loss(self, model, batch):
        self.clock[0] += self.seconds
        return model(batch[0]).square().mean()

    def evaluate(self, model, max_examples):
        raise NotImplementedError


def test_time_by_phase_and_in_all(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: clock[0])
    tasks = {"sentiment": Timed(0.5, clock), "masked tokens": Timed(2.0, clock)}
    model = tiny.build(tiny.TEXT)
    recipe = Recipe(preset="imdb-pre-ln", phases=(FAST, SLOW))
    first, second, whole = estimate(recipe, tasks, model, "fp32", 0).splitlines()
    assert first == "sentiment: 120 steps of 500 ms, 1 min"
    assert second == "masked tokens: 30 steps of 2e+03 ms, 1 min"
    assert whole.startswith("about 2 min in all")
    assert all(parameter.grad is None for parameter in model.parameters())
    assert estimate(recipe, tasks, model, "fp32", 1).splitlines()[0] == second


@pytest.mark.parametrize(("epochs", "quick", "steps"), [(2, False, 120), (2, True, 40), (0.001, False, 1)])
def test_steps_of_a_phase(epochs, quick, steps):
    phase = Phase(task="sentiment", epochs=epochs, batch_size=4, learning_rate=1e-3)
    assert n_steps(phase, Timed(1, [0.0]), quick=quick) == steps
