import math
from functools import partial

import pytest
import torch

from model.checkpoint import CHECKPOINTS
from model.theory.digit_training import RUNS, WarmupRun, read_runs
from model.train import warmup
from model.train.prepare import prepare
from model.train.recipes import recipe
from model.train.warmup import train_missing_runs, warmup_run, write_runs

THERE = WarmupRun(
    norm_placement="pre",
    learning_rate=1e-3,
    warmup=0,
    n_steps=300,
    steps=(0,),
    losses=(2.3,),
    final_loss=2.3,
    accuracy=0.1,
    precision="fp32",
)


@pytest.mark.slow
def test_a_run_keeps_its_losses_and_one_that_fails_says_so(few_digits, tmp_path):
    where = prepare(recipe("mnist-post-ln"), few_digits, tmp_path / "runs", torch.device("cpu"))
    good = warmup_run("mnist-post-ln", where, 1e-3, 2, precision="fp32", n_steps=4)
    assert (good.norm_placement, good.learning_rate, good.warmup, good.n_steps) == ("post", 1e-3, 2, 4)
    assert good.steps == (0, 1, 2, 3)
    assert good.precision == "fp32"
    assert good.final_loss is not None
    assert math.isclose(good.final_loss, sum(good.losses) / 4)
    assert 0 <= good.accuracy <= 1
    bad = warmup_run("mnist-post-ln", where, 1e38, 0, precision="fp32", n_steps=4)
    assert bad.losses[0] == good.losses[0]  # the same encoder on the same digits
    assert bad.final_loss is None
    assert bad.accuracy is None  # that of weights which are no numbers would be the share of the zeros
    write_runs(tmp_path / "runs.json", [good, bad])
    assert read_runs(tmp_path / "runs.json") == [good, bad]


def test_what_is_missing_is_run_and_what_is_there_is_left(few_digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the runs prepare their data
    monkeypatch.setattr(warmup, "LEARNING_RATES", (1e-3,))
    monkeypatch.setattr(warmup, "WARMUPS", (0,))
    monkeypatch.setattr(warmup, "warmup_run", partial(warmup_run, n_steps=2))
    monkeypatch.setattr(warmup, "faster_precision", lambda *_: "bf16")
    write_runs(tmp_path / "runs.json", [THERE])
    train_missing_runs(few_digits, tmp_path / "runs.json", torch.device("cpu"))
    first, second = read_runs(tmp_path / "runs.json")
    assert first == THERE
    assert (second.norm_placement, second.n_steps) == ("post", 2)
    assert second.precision == "fp32"  # as the one that was there


def test_all_runs_of_a_file_are_in_one_precision(tmp_path):
    write_runs(tmp_path / "runs.json", [THERE])
    with pytest.raises(ValueError, match=r"runs.json holds runs in fp32, not bf16; --out names another file"):
        train_missing_runs(tmp_path / "no data", tmp_path / "runs.json", torch.device("cpu"), "bf16")


def test_the_first_run_of_a_file_is_in_the_faster_precision(few_digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warmup, "LEARNING_RATES", (1e-3,))
    monkeypatch.setattr(warmup, "WARMUPS", (0,))
    monkeypatch.setattr(warmup, "warmup_run", partial(warmup_run, n_steps=1))
    requests = []
    monkeypatch.setattr(warmup, "faster_precision", lambda *arguments: requests.append(arguments) or "fp32")
    train_missing_runs(few_digits, tmp_path / "runs.json", torch.device("cpu"))
    assert [run.precision for run in read_runs(tmp_path / "runs.json")] == ["fp32", "fp32"]
    assert len(requests) == 1


def test_where_no_run_is_missing_it_says_so(tmp_path, capsys):
    train_missing_runs(tmp_path / "no data", CHECKPOINTS / RUNS, torch.device("cpu"))
    assert "already; --out names another file" in capsys.readouterr().out
