"""What a phase decides for its steps."""

from dataclasses import replace

import torch

from model.train.loop import train
from model.train.recipe import Phase, Recipe
from model.train.setting import Setting
from tests.model import tiny


class Watched:
    """Writes down with which seeds batches were asked for, and in which mode the encoder learned."""

    n_examples, n_glance, n_check = 8, 1, 1

    def __init__(self) -> None:
        self.seeds, self.modes = [], []

    def batch(self, seed, step, size):  # noqa: ARG002
        self.seeds.append(seed)
        return (torch.full((size, 3), 5),)

    def loss(self, model, batch):
        self.modes.append(model.training)
        return model(batch[0]).square().mean()

    def evaluate(self, model, at_most):  # noqa: ARG002
        return {"n": at_most, "accuracy": 0.5, "loss": 1.0}


def test_each_phase_draws_batches_of_its_own_and_drops_out_only_where_it_says(tmp_path):
    task = Watched()
    phase = Phase(task="sentiment", epochs=1, batch_size=4, learning_rate=1e-3)
    setting = Setting(
        config=tiny.TEXT,
        tasks={"sentiment": task},
        probes=(),
        probe_names=(),
        tokenizer=None,
        data={},
        state=tmp_path / "state.safetensors",
        device=torch.device("cpu"),
    )
    train(Recipe(preset="imdb-pre-ln", phases=(phase, replace(phase, dropout=True)), seed=7), setting)
    assert task.seeds == [7, 7, 8, 8]
    assert task.modes == [False, False, True, True]
