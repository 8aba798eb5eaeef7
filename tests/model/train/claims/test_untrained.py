import math
from dataclasses import replace

import numpy as np
import pytest

from model import checkpoint
from model.claims.verdict import FEWEST_TESTED
from model.theory.digit_training import (
    RUNS,
    WarmupRun,
    digit_encoder,
    learning_rate,
    model_update,
    train_steps,
)
from model.theory.gradients_at_start import UntrainedConfig
from model.train.claims import untrained
from model.train.claims.untrained import (
    GUESSING,
    SMALL,
    held_out_accuracy,
    measure_stored_runs,
    measure_untrained,
    short_run_accuracy,
)
from model.train.warmup import write_runs

RUN = WarmupRun(
    norm_placement="pre",
    learning_rate=1e-3,
    warmup=0,
    n_steps=9,
    steps=(),
    losses=(),
    final_loss=1.0,
    accuracy=0.5,
    precision="fp32",
)


def accuracy_of(variant, *, learning_rate, warmup, seed):
    """Pre-LN learns at every rate, post-LN at the smallest alone, or with warm-up at the next one."""
    learns = variant == "pre-LN" or learning_rate == 1e-3 or (learning_rate == 3e-3 and warmup)
    return 0.5 + seed / 100 if learns else 0.1


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(untrained, "SEEDS", (0, 1, 2))
    monkeypatch.setattr(untrained, "DEEPEST", 3)
    monkeypatch.setattr(untrained, "DEPTHS", (2,))
    monkeypatch.setattr(untrained, "STEPS", 2)
    monkeypatch.setattr(untrained, "XAVIER", UntrainedConfig(d_model=16, n_heads=2))
    monkeypatch.setattr(untrained, "short_run_accuracy", accuracy_of)


def test_new_seeds_enough_for_a_test():
    """Those that had suggested the claims are not among them."""
    assert len(untrained.SEEDS) == 16 >= FEWEST_TESTED
    assert not {0, 1, 2} & set(untrained.SEEDS)


@pytest.mark.usefixtures("small")
def test_every_figure_of_fresh_encoders():
    result = {(measured.figure, measured.where): measured for measured in measure_untrained()}
    slope, growth, update = (
        next(item for (figure, _), item in result.items() if figure == name)
        for name in ("slope of the last gradient", "stream growth", "early update")
    )
    assert np.mean(slope.pre) < np.mean(slope.post)
    assert min(growth.pre) > max(growth.post)
    options = {"learning_rate": untrained.RATE, "warmup": 0, "n_steps": 2, "seed": 1}
    assert update.pre[1] == model_update(untrained.XAVIER, "pre-LN", 2, **options)[-1]
    gain = {where: item for (figure, where), item in result.items() if figure == "gain by warm-up"}
    helped = gain["small encoders, rate 0.003"]
    assert helped.post == pytest.approx((0.4, 0.41, 0.42))  # what ended in no number counts as guessing
    assert helped.pre == (0, 0, 0)
    assert gain["small encoders, rate 0.01"].post == (0, 0, 0)
    (rate,) = (item for (figure, _), item in result.items() if figure == "largest learning rate")
    assert (rate.pre, rate.post) == ((0.03,) * 3, (0.003,) * 3)


def test_the_longest_warm_up_of_the_stored_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "CHECKPOINTS", tmp_path)
    assert not list(measure_stored_runs())
    reached = {
        ("pre", 0): 0.5,
        ("pre", 9): 0.6,
        ("pre", 99): 0.7,
        ("post", 0): 0.1,
        ("post", 9): 0.2,
        ("post", 99): 0.6,
    }
    runs = [replace(RUN, norm_placement=p, warmup=n, accuracy=it) for (p, n), it in reached.items()]
    write_runs(tmp_path / RUNS, runs)
    result = {(measured.figure, measured.where): measured for measured in measure_stored_runs()}
    gains = [item for (figure, _), item in result.items() if figure == "gain by warm-up"]
    assert [(gain.where, gain.seeds) for gain in gains] == [
        ("full size, rate 0.001, 99 steps of warm-up", (0,))
    ]
    assert (gains[0].pre, gains[0].post) == ((pytest.approx(0.2),), (pytest.approx(0.5),))
    assert result["reached with warm-up", "full size, rate 0.001, 9 steps of warm-up"].post == (0.2,)


def test_a_short_run_has_the_schedule_of_the_long_ones(monkeypatch):
    monkeypatch.setattr(untrained, "LAYERS", 2)
    monkeypatch.setattr(untrained, "RUN_STEPS", 20)
    model = digit_encoder(SMALL, "post-LN", 2, 1)
    rates = [learning_rate(step, 20, 2e-3, 5, falls=False) for step in range(20)]
    list(train_steps(model, rates, batch_size=untrained.BATCH_SIZE, seed=1))
    accuracy = short_run_accuracy("post-LN", learning_rate=2e-3, warmup=5, seed=1)
    assert accuracy == held_out_accuracy(model)


def test_a_run_that_diverges_guesses_and_ends(monkeypatch):
    losses = iter([2.3, 7.0, math.nan, 1.0])
    monkeypatch.setattr(untrained, "train_steps", lambda *_, **__: losses)
    assert short_run_accuracy("pre-LN", learning_rate=1.0, warmup=0, seed=0) == GUESSING
    assert list(losses) == [1.0]


@pytest.mark.slow
def test_training_raises_the_accuracy():
    model = digit_encoder(SMALL, "pre-LN", 2, 0)
    before = held_out_accuracy(model)
    list(train_steps(model, [3e-3] * 60, batch_size=32, seed=0))
    assert held_out_accuracy(model) > before + 0.2
