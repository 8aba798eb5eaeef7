from dataclasses import replace

import numpy as np
import pytest

from model import checkpoint
from model.claims.verdict import FEWEST_TESTED
from model.theory import warmup_grid
from model.theory.early_update import model_update
from model.theory.untrained_encoder import UntrainedConfig
from model.theory.warmup_grid import RUNS, WarmupRun, write_runs
from model.train.claims import untrained
from model.train.claims.untrained import measure_stored_runs, measure_untrained

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


def run_of(_setting, variant, _n_layers, *, learning_rate, warmup, n_steps, seed):  # noqa: ARG001
    """Pre-LN learns at every rate, post-LN at the smallest alone, or with warm-up at the next one."""
    learns = variant == "pre-LN" or learning_rate == 1e-3 or (learning_rate == 3e-3 and warmup)
    return replace(RUN, accuracy=0.5 + seed / 100 if learns else None)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(untrained, "SEEDS", (0, 1, 2))
    monkeypatch.setattr(untrained, "DEEPEST", 3)
    monkeypatch.setattr(untrained, "DEPTHS", (2,))
    monkeypatch.setattr(untrained, "STEPS", 2)
    monkeypatch.setattr(untrained, "XAVIER", UntrainedConfig(d_model=16, n_heads=2))
    monkeypatch.setattr(warmup_grid, "train_once", run_of)


def test_new_seeds_enough_for_a_test():
    """Those that had suggested the claims are not among them."""
    assert len(untrained.SEEDS) == 16 >= FEWEST_TESTED
    assert not {0, 1, 2} & set(untrained.SEEDS)


@pytest.mark.usefixtures("small")
def test_every_figure_of_fresh_encoders():
    found = {(each.figure, each.where): each for each in measure_untrained()}
    slope, growth, update = (
        next(each for (figure, _), each in found.items() if figure == name)
        for name in ("slope of the last gradient", "stream growth", "early update")
    )
    assert np.mean(slope.pre) < np.mean(slope.post)
    assert min(growth.pre) > max(growth.post)
    options = {"learning_rate": untrained.RATE, "warmup": 0, "n_steps": 2, "seed": 1}
    assert update.pre[1] == model_update(untrained.XAVIER, "pre-LN", 2, **options)[-1]
    gain = {where: each for (figure, where), each in found.items() if figure == "gain by warm-up"}
    helped = gain["small encoders, rate 0.003"]
    assert helped.post == pytest.approx((0.4, 0.41, 0.42))  # what ended in no number counts as guessing
    assert helped.pre == (0, 0, 0)
    assert gain["small encoders, rate 0.01"].post == (0, 0, 0)
    (rate,) = (each for (figure, _), each in found.items() if figure == "largest learning rate")
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
    found = {(each.figure, each.where): each for each in measure_stored_runs()}
    gains = [each for (figure, _), each in found.items() if figure == "gain by warm-up"]
    assert [(each.where, each.seeds) for each in gains] == [
        ("full size, rate 0.001, 99 steps of warm-up", (0,))
    ]
    assert (gains[0].pre, gains[0].post) == ((pytest.approx(0.2),), (pytest.approx(0.5),))
    assert found["reached with warm-up", "full size, rate 0.001, 9 steps of warm-up"].post == (0.2,)
