import gzip
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jaxtyping
import numpy as np
import pandas as pd
import pytest

from model import config
from model.inputs.digits import examples
from model.train import recipes
from tests.model.train import small

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def few_digits(tmp_path_factory) -> Path:
    """A folder with 60 digits as MNIST's training files."""
    folder = tmp_path_factory.mktemp("digits")
    images, labels = (values[:60] for values in examples())
    for kind, values in (("images-idx3", images), ("labels-idx1", labels)):
        header = bytes((0, 0, 8, values.ndim)) + struct.pack(f">{values.ndim}I", *values.shape)
        content = gzip.compress(header + values.tobytes())
        (folder / f"train-{kind}-ubyte.gz").write_bytes(content)
    return folder


@pytest.fixture(scope="session")
def few_reviews(tmp_path_factory) -> Path:
    """A folder with 300 labelled and 100 unlabelled reviews of invented words, 60 sentences and 30 pairs."""
    folder = tmp_path_factory.mktemp("reviews")
    random = np.random.default_rng(0)
    words = np.array(
        ["film", "actor", "plot", "scene", "good", "bad", "fine", "dull", "the", "a", "not", "very"]
    )

    def review(label: int) -> str:
        length = random.integers(5, 60)
        return " ".join([*random.choice(words, length), ("awful", "lovely", "seen")[label]]) + ".<br />"

    for part, labels in (("train", [0, 1] * 150), ("unsup", [-1] * 100)):
        table = pd.DataFrame({"label": labels, "text": [review(label) for label in labels]})
        table.to_csv(folder / f"imdb_{part}.csv", index=False)
    _sentences().to_csv(folder / "sst.csv", index=False)
    texts = [f"the plot is {('dull', 'fine')[index % 2]}. {review(index % 2)}" for index in range(60)]
    _pairs(texts).to_csv(folder / "edited_reviews.csv", index=False)
    return folder


def _sentences() -> pd.DataFrame:
    """Of each sentence the whole and a phrase; every sixth is neutral, every fifth is held out."""
    words = ("is awful", "is not good", "is a film", "is fine", "is lovely", "is never bad")
    of = ("film", "actor", "plot", "scene")
    rows = [
        ("dev" if index % 5 == 0 else "train", index, whole, min(index % 6, 4), start + words[index % 6])
        for index in range(60)
        for whole, start in ((1, f"the {of[index // 16]} {of[index // 4 % 4]} {of[index % 4]} "), (0, ""))
    ]
    return pd.DataFrame(rows, columns=["split", "sentence", "whole", "rating", "text"])


def _pairs(texts: list[str]) -> pd.DataFrame:
    """Every third pair is held out."""
    rows = [
        (
            "dev" if index % 6 < 2 else "train",
            index // 2,
            ("original", "edited")[(index + index // 2) % 2],
            index % 2,
            text,
        )
        for index, text in enumerate(texts)
    ]
    return pd.DataFrame(rows, columns=["split", "pair", "version", "label", "text"])


@pytest.fixture(scope="session")
def data(few_digits, few_reviews) -> dict[str, Path]:
    """Where each checkpoint's data are."""
    of_digits = dict.fromkeys(("mnist-pre-ln", "mnist-post-ln", "looker"), few_digits)
    return of_digits | dict.fromkeys(("imdb-post-ln", "imdb-article"), few_reviews)


@pytest.fixture(scope="session")
def trained(data, run_here, tmp_path_factory):
    """`trained(name)` is the folder of a checkpoint from a whole quick run; each is run once."""
    folder = tmp_path_factory.mktemp("trained")

    def once(name: str) -> Path:
        if not (folder / name).exists():
            run_here(command(name, data[name], folder))
        return folder / name

    return once


def command(name: str, data: Path, folder: Path, processes: int = 1) -> list[str]:
    """The training command, which writes below `folder`; `processes` > 1 starts it through torchrun.

    The encoders of a pair are small ones; those after the articles are as they are.
    """
    start = ["-m", "torch.distributed.run", f"--nproc-per-node={processes}"] if processes > 1 else []
    folders = ["--data", data, "--out", folder, "--runs", folder / "runs"]
    options = ["--quick", "--device", "cpu", "--precision", "fp32", *map(str, folders)]
    module = "tests.model.train.small" if name.endswith("-ln") else "model.train"
    return [sys.executable, *start, "-m", module, name, *options]


@pytest.fixture(scope="session")
def run_here() -> Callable[[list[str]], None]:
    """Runs such a command in this process, which has imported all that it needs, without checks of types."""

    def called(arguments: list[str]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config, "_PRESETS", config._PRESETS | small.PRESETS)
            patch.setattr(recipes, "_RECIPES", recipes._RECIPES | small.RECIPES)
            patch.setattr(sys, "argv", arguments[2:])
            patch.setenv("OMP_NUM_THREADS", "1")
            patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
            small.main()

    return called


def run(arguments: list[str]) -> None:
    """Runs a command to its end; shows what it said where it fails."""
    done = subprocess.run(arguments, cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def environment() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1"}
