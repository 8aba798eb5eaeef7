"""What a phase decides for its steps."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from model.train.loop import faster_precision, train
from model.train.recipes import Phase, Recipe
from model.train.step import PRECISIONS
from model.train.training_setup import TrainingSetup
from tests.model import tiny

PHASE = Phase(task="sentiment", epochs=1, batch_size=4, learning_rate=1e-3)
RECIPE = Recipe(preset="imdb-pre-ln", phases=(PHASE,))


def precision() -> str:
    return "bf16" if torch.is_autocast_enabled("cpu") else "fp32"


class Watched:
    """Writes down with which seeds batches were asked for, and how the encoder learned and was judged."""

    n_examples, n_glance, n_check, drop_last = 8, 1, 1, True

    def __init__(self) -> None:
        self.seeds, self.modes, self.precisions, self.evaluated = [], [], [], []
        self.clock, self.takes = 0.0, {}  # seconds; by precision

    def batch(self, seed, step, size):  # noqa: ARG002
        self.seeds.append(seed)
        return (torch.full((size, 3), 5),)

    def loss(self, model, batch):
        self.modes.append(model.training)
        self.precisions.append(precision())
        self.clock += self.takes.get(precision(), 1)
        return model(batch[0]).square().mean()

    def evaluate(self, model, max_examples):  # noqa: ARG002
        self.evaluated.append(precision())
        return {"n": max_examples, "accuracy": 0.5, "loss": 1.0}


@pytest.fixture
def setup(tmp_path) -> TrainingSetup:
    return TrainingSetup(
        config=tiny.TEXT,
        tasks={"sentiment": Watched()},
        probes=(),
        probe_names=(),
        tokenizer=None,
        data={},
        state=tmp_path / "state.safetensors",
        device=torch.device("cpu"),
    )


def test_each_phase_draws_batches_of_its_own_and_drops_out_only_where_it_says(setup):
    train(Recipe(preset="imdb-pre-ln", phases=(PHASE, replace(PHASE, dropout=True)), seed=7), setup, "fp32")
    assert setup.tasks["sentiment"].seeds == [7, 7, 8, 8]
    assert setup.tasks["sentiment"].modes == [False, False, True, True]


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("slow", PRECISIONS)
def test_a_run_is_in_the_precision_that_is_faster_and_stays_in_it(slow, setup, monkeypatch, capsys):
    task = setup.tasks["sentiment"]
    task.takes = {slow: 2}
    monkeypatch.setattr("model.train.loop.perf_counter", lambda: task.clock)
    model, progress = train(RECIPE, setup)
    (fast,) = set(PRECISIONS) - {slow}
    assert progress.precision == fast
    assert set(task.precisions[-2:]) == {fast}  # in its steps, after both were timed
    assert capsys.readouterr().err.startswith(f"precision {fast}: the gradients of a step take ")
    monkeypatch.setattr("model.train.loop.faster_precision", lambda *_: slow)
    again, progress = train(RECIPE, setup)  # it is done, and was not begun anew
    assert progress.precision == fast
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_precision_that_is_asked_for_is_taken_without_a_trial(setup):
    _, progress = train(RECIPE, setup, "bf16")
    task = setup.tasks["sentiment"]
    assert task.precisions == ["bf16"] * 2  # of its two steps
    assert set(task.evaluated) == {"bf16"}
    assert progress.precision == "bf16"
    with pytest.raises(ValueError, match="is of a run in bf16, not fp32; --fresh starts over"):
        train(RECIPE, setup, "fp32")


def test_timing_leaves_the_encoder_as_it_was():
    model = tiny.build(tiny.TEXT)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    assert faster_precision(Watched(), model, 0, 4) in PRECISIONS
    for parameter, value in zip(model.parameters(), before, strict=True):
        assert torch.equal(parameter, value)
        assert parameter.grad is None


def test_a_recipe_says_how_linear_maps_and_embeddings_begin(setup):
    still = replace(PHASE, learning_rate=0.0)
    wide = replace(setup, config=replace(tiny.TEXT, vocab_size=500))
    recipe = Recipe(preset="imdb-pre-ln", phases=(still,), linear_start="torch", embedding_std=1.0)
    drawn, _ = train(recipe, wide, "fp32")
    for part in (part for part in drawn.modules() if isinstance(part, nn.Linear)):
        bound = part.in_features**-0.5  # of torch's weights and biases alike
        assert part.weight.abs().max() <= bound
        assert 0 < part.bias.abs().max() <= bound
    tokens = drawn.embedding.tokens
    assert tokens.weight.std().item() == pytest.approx(1, abs=0.05)
    assert tokens.weight[tokens.padding_idx].eq(0).all()


def test_the_last_batch_of_an_epoch_is_kept_where_the_task_says_so(setup):
    for drop_last, n_steps in ((True, 2), (False, 3)):
        task = Watched()
        task.drop_last = drop_last
        state = setup.state.with_name(f"{drop_last}.safetensors")
        phase = replace(PHASE, batch_size=3)
        train(
            Recipe(preset="imdb-pre-ln", phases=(phase,)),
            replace(setup, tasks={"sentiment": task}, state=state),
            "fp32",
        )
        assert len(task.seeds) == n_steps
