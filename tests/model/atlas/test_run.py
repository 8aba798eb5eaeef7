"""Two workers of Ray come to what one process comes to, also where one of them is killed on the way."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from model.atlas.dataset_examples import Shard, examples_for
from model.atlas.dataset_measure import Statistics
from model.atlas.results import RELATIONS
from model.atlas.run import PartialResult, Worker, on_ray, run_locally, run_measure
from model.checkpoint import save, weights_hash
from model.inputs import as_input
from tests.model import tiny

ROOT = Path(__file__).parents[3]
TEXTS = tuple(
    f"{a} {b} film" for a in ("great", "not", "x y", "z z z") for b in ("a", "b c", "not", "d e f", "g")
)


@pytest.mark.slow
def test_local_and_ray_are_equal_with_a_worker_killed(tmp_path):
    loaded = tiny.stored(tmp_path / "it")
    out, csv = tmp_path / "out", tmp_path / "texts.csv"
    out.mkdir()
    csv.write_text("text\n" + "\n".join(TEXTS))
    command = [sys.executable, "-m", "tests.model.atlas.killed", tmp_path / "it", csv, out]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert (out / "killed").exists()
    assert len(list(out.glob("worker-*"))) >= 2
    here = run_measure(
        Statistics(shard=4), loaded, examples_for(loaded, csv), PartialResult(tmp_path / "part")
    )
    by_ray = load_file(out / "by_ray.safetensors")
    assert set(by_ray) == set(here)
    for name, values in here.items():
        np.testing.assert_allclose(by_ray[name], values, rtol=1e-6, atol=1e-6)


def test_what_a_worker_refuses_comes_back_as_a_sentence(tmp_path):
    made = tiny.loaded(replace(tiny.TEXT, pooling="mean"))
    made.tokenizer.post_processor = None  # so that there can be a text without a token
    save(tmp_path / "it", made.model, {}, made.tokenizer)
    shard = Shard(number=3, numbers=(7, 8), inputs=(as_input("great"), as_input(" ")))
    folder, weights = str(tmp_path / "it"), weights_hash(tmp_path / "it")
    for expected_weights, sentence in (
        (weights, "example 8: it finds no token in this text"),
        ("x", "a worker has other weights in"),
    ):
        number, n_examples, refused = Worker(Statistics(), folder, "cpu", expected_weights).measure(shard)
        assert (number, n_examples) == (3, 2)
        assert refused.startswith(sentence)


def test_shards_in_any_order_are_merged_in_theirs(tmp_path):
    loaded = tiny.loaded(tiny.TEXT)
    csv = tmp_path / "texts.csv"
    csv.write_text("text\n" + "\n".join(TEXTS))
    examples = examples_for(loaded, csv)

    def backwards(*args):
        return reversed(list(run_locally(*args)))

    one, other = (
        run_measure(Statistics(shard=3), loaded, examples, PartialResult(tmp_path / name), engine)
        for name, engine in (("one", run_locally), ("other", backwards))
    )
    for name, values in one.items():
        np.testing.assert_array_equal(other[name], values)


def test_without_ray_one_sentence_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ValueError, match=r"^--engine ray needs Ray: pip install -r requirements-ray\.txt$"),
        on_ray(),
    ):
        pass


@pytest.mark.slow
def test_relations_are_equal_by_ray(tmp_path):
    """600 sentences are three shards; what two workers write is what one process writes, byte by byte."""
    tiny.stored(tmp_path / "it")
    rows = [
        f"{text},{number % 3 + 1},4,near" for number, text in enumerate(f"{a} b c d" for a in "xyz" * 200)
    ]
    (tmp_path / "links.csv").write_text("text,from,to,relation\n" + "\n".join(rows))
    for engine in (("local",), ("ray", "--workers", "2")):
        command = [
            sys.executable,
            "-m",
            "model.atlas",
            tmp_path / "it",
            "--relations",
            tmp_path / "links.csv",
        ]
        command += ["--out", tmp_path / engine[0], "--engine", *engine]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
        assert ended.returncode == 0, ended.stderr[-3000:]
    written = [(tmp_path / engine / RELATIONS).read_bytes() for engine in ("local", "ray")]
    assert written[0] == written[1]
