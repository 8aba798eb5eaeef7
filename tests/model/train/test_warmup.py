import math

import torch

from model.checkpoint import CHECKPOINTS
from model.theory.warmup import RUNS, read_runs, write_runs
from model.train.prepare import prepare
from model.train.recipe import recipe
from model.train.warmup import make_missing, warmup_run


def test_a_run_keeps_its_losses_and_one_that_fails_says_so(few_digits, tmp_path):
    where = prepare(recipe("mnist-post-ln"), few_digits, tmp_path / "runs", torch.device("cpu"))
    good = warmup_run("mnist-post-ln", where, 1e-3, 2, n_steps=4)
    assert (good.norm_placement, good.learning_rate, good.warmup, good.n_steps) == ("post", 1e-3, 2, 4)
    assert good.steps == (0, 1, 2, 3)
    assert good.final_loss is not None
    assert math.isclose(good.final_loss, sum(good.losses) / 4)
    assert 0 <= good.accuracy <= 1
    bad = warmup_run("mnist-post-ln", where, 1e38, 0, n_steps=4)
    assert bad.losses[0] == good.losses[0]  # the same encoder on the same digits
    assert bad.final_loss is None
    assert bad.accuracy is None  # that of weights which are no numbers would be the share of the zeros
    write_runs(tmp_path / "runs.json", [good, bad])
    assert read_runs(tmp_path / "runs.json") == [good, bad]


def test_where_no_run_is_missing_it_says_so(tmp_path, capsys):
    make_missing(tmp_path / "no data", CHECKPOINTS / RUNS, torch.device("cpu"))
    assert "already; --out names another file" in capsys.readouterr().out
