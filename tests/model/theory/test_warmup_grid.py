import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from model.theory.warmup_grid import WarmupRun, read_runs
from model.train.warmup import write_runs

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


def stored(tmp_path: Path, text: str) -> Path:
    (tmp_path / "runs.json").write_text(text)
    return tmp_path / "runs.json"


def test_runs_survive_the_file(tmp_path):
    runs = [RUN, replace(RUN, final_loss=0.5, losses=(1.0, 0.75, 0.5), warmup=100)]
    write_runs(tmp_path / "warmup" / "runs.json", runs)
    assert read_runs(tmp_path / "warmup" / "runs.json") == runs
    assert [path.name for path in (tmp_path / "warmup").iterdir()] == ["runs.json"]


def test_no_runs_survive_the_file(tmp_path):
    write_runs(tmp_path / "runs.json", [])
    assert read_runs(tmp_path / "runs.json") == []


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
