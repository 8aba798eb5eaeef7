import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from model.theory.digit_training import (
    BATCH_SIZE,
    BETAS,
    N_HELD_OUT,
    N_PROBES,
    WarmupRun,
    digit_encoder,
    digit_tensors,
    geometric_steps,
    learning_rate,
    mean_first_and_last,
    model_update,
    read_runs,
    train_steps,
    warmup_rates,
)
from model.theory.gradients_at_start import VARIANTS, UntrainedConfig
from model.train.warmup import write_runs

SETTING = UntrainedConfig(d_model=16, n_heads=2, initialisation="Xavier")
RUN = WarmupRun(
    norm_placement="post",
    learning_rate=1e-3,
    warmup=0,
    n_steps=30,
    steps=(0, 10, 20),
    losses=(9.25, 8.5, None),
    final_loss=None,
    accuracy=0.125,
    precision="fp32",
)


def test_digits_are_from_0_to_1_and_some_are_held_out():
    images, labels = digit_tensors()
    assert images.shape == (10_000, 28, 28)
    assert (images.min(), images.max()) == (0, 1)
    assert labels[:3].tolist() == [7, 2, 1]
    assert 0 < N_HELD_OUT < len(images)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_step_is_one_of_adam_with_the_loss_before_it(variant):
    ours, by_hand = (digit_encoder(SETTING, variant, 2, 0) for _ in range(2))
    (loss,) = train_steps(ours, [1e-3], batch_size=8, seed=5)
    images, labels = digit_tensors()
    rng = torch.Generator().manual_seed(5)
    batch = torch.randint(len(images) - N_HELD_OUT, (8,), generator=rng)
    expected = functional.cross_entropy(by_hand(images[batch]), labels[batch])
    optimizer = torch.optim.Adam(by_hand.parameters(), lr=1e-3, betas=BETAS)
    expected.backward()
    optimizer.step()
    assert loss == pytest.approx(expected.item(), rel=1e-5)
    for (name, one), other in zip(ours.named_parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5, msg=name)


def test_rates_rise_over_the_warm_up_and_stay():
    assert warmup_rates(5, 4.0, 3) == pytest.approx([4 / 3, 8 / 3, 4, 4, 4])
    assert warmup_rates(2, 1e-3, 0) == [1e-3, 1e-3]


TINY = UntrainedConfig(d_model=16, n_heads=2)
STEPS = {"learning_rate": 1e-3, "warmup": 0, "n_steps": 3, "seed": 0}


@pytest.mark.rest_is_slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_begins_at_0_and_moves(variant):
    moved = model_update(TINY, variant, 2, **STEPS)
    assert moved.shape == (4,)
    assert moved[0] == 0
    assert (moved[1:] > 0).all()
    np.testing.assert_array_equal(moved, model_update(TINY, variant, 2, **STEPS))


def test_by_two_encoders_one_of_which_is_trained():
    start, trained = (digit_encoder(TINY, "post-LN", 2, 0) for _ in range(2))
    list(train_steps(trained, [1e-3] * 3, batch_size=BATCH_SIZE, seed=0))
    probes = digit_tensors()[0][-N_PROBES:]
    with torch.no_grad():
        apart = trained.encode(probes) - start.encode(probes)
    expected = apart.square().sum(dim=-1).sqrt().mean().item()
    assert model_update(TINY, "post-LN", 2, **STEPS)[-1] == pytest.approx(expected, rel=1e-5)


def test_updates_of_several_seeds_by_hand():
    updates = np.array([[0.0, 1.0, 2.0, 4.0], [0.0, 3.0, 9.0, 5.0]])
    assert mean_first_and_last(updates) == (2, 4.5)


def stored(tmp_path: Path, text: str) -> Path:
    (tmp_path / "runs.json").write_text(text)
    return tmp_path / "runs.json"


def test_runs_survive_the_file(tmp_path):
    runs = [RUN, replace(RUN, final_loss=0.5, losses=(1.0, 0.75, 0.5), warmup=100)]
    write_runs(tmp_path / "warmup" / "runs.json", runs)
    assert read_runs(tmp_path / "warmup" / "runs.json") == runs
    assert [path.name for path in (tmp_path / "warmup").iterdir()] == ["runs.json"]


def test_numbers_may_lack_their_point(tmp_path):
    (read,) = read_runs(stored(tmp_path, rows(learning_rate=1, losses=[2, 1], final_loss=1, accuracy=1)))
    assert (read.learning_rate, read.losses, read.final_loss, read.accuracy) == (1.0, (2.0, 1.0), 1.0, 1.0)


def test_without_a_file_there_are_no_runs(tmp_path):
    assert read_runs(tmp_path / "runs.json") == []


def rows(**changes: object) -> str:
    """A file of one run."""
    row = {
        "norm_placement": "pre",
        "learning_rate": 0.001,
        "warmup": 0,
        "n_steps": 2,
        "steps": [0, 1],
        "losses": [1.0, None],
        "final_loss": None,
        "accuracy": None,
        "precision": "fp32",
    }
    return json.dumps([row | changes])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "cannot be read: Expecting value"),
        ("{}", "it must be a list, got {}"),
        ("[1]", "0 must be an object, got 1"),
        ("[{}]", "0: norm_placement is missing"),
        (rows(extra=1), "unknown field 'extra'"),
        (rows(norm_placement=3), "0 norm_placement must be text, got 3"),
        (rows().replace(', "precision": "fp32"', ""), "0: precision is missing"),
        (rows(precision=32), "0 precision must be one of bf16, fp32, got 32"),
        (rows(precision="fp16"), "0 precision must be one of bf16, fp32, got 'fp16'"),
        (rows(warmup="0"), "0 warmup must be a whole number, got '0'"),
        (rows(warmup=-1), "0 warmup must be a whole number >= 0, got -1"),
        (rows(learning_rate=0), "0 learning_rate must be a number > 0.0, got 0"),
        (rows(n_steps=0), "0 n_steps must be a whole number >= 1, got 0"),
        (rows(n_steps=True), "0 n_steps must be a whole number, got True"),
        (rows(losses=[1.0]), "2 steps need as many losses, got 1"),
        (rows(losses="no"), "0 losses must be a list, got 'no'"),
        (rows(losses=[1.0, "low"]), "0 losses 1 must be a number or null, got 'low'"),
        (rows(steps=[0, 0.5]), "0 steps 1 must be a whole number, got 0.5"),
        (rows(final_loss=math.nan), "0 final_loss must be a number >= -1e.300, got nan"),
        (rows(losses=[math.inf, 1.0]), "0 losses 0 must be a number <= 1e.300, got inf"),
        (rows(accuracy=10**400), "0 accuracy: Number out of range, got 10+"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_damaged_file_is_said_in_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=sentence) as raised:
        read_runs(stored(tmp_path, text))
    assert "\n" not in str(raised.value)


def test_learning_rate_rises_then_falls_to_zero():
    rates = [learning_rate(step, 100, 2.0, 10) for step in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert rates[9] == pytest.approx(2.0)
    assert rates[10] == pytest.approx(2.0)
    assert rates[55] == pytest.approx(1.0)  # half way down the cosine
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert learning_rate(100, 100, 2.0, 10) == pytest.approx(0.0)


def test_learning_rate_that_does_not_fall_stays_at_its_peak():
    assert [learning_rate(step, 9, 2.0, 2, falls=False) for step in (0, 1, 2, 8)] == [1.0, 2.0, 2.0, 2.0]


def test_without_warmup_it_begins_at_its_peak():
    assert learning_rate(0, 9, 2.0, 0) == 2.0


def test_moments_are_spaced_geometrically_from_first_to_last_step():
    taken = geometric_steps(10_000, 28)
    assert taken[0] == 0
    assert taken[-1] == 9_999
    assert len(taken) >= 24
    gaps = [after - before for before, after in pairwise(taken)]
    assert gaps == sorted(gaps)


def test_moments_of_a_short_run_are_its_steps():
    assert geometric_steps(3, 28) == [0, 1, 2]
