"""An atlas of the tiny encoders, with numbers that a test can tell apart."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from model import checkpoint
from model.atlas.parquet import DataSource
from model.atlas.results import EXAMPLES, HEADS, HeadResults, ResultTable, write_results
from model.atlas.running_moments import Spread

SHAPE = 2, 2
MEANS = {"entropy": 0.4, "distance": 1.5, "same": 0.1, "first": 0.1, "sink": 0.2}
OF_TEXT = {"previous": 0.05, "next": 0.3, "separator": 0.1}


def source(name: str, data: str = "sentences of our own", **samples: int) -> DataSource:
    weights = (checkpoint.weights_hash(name),)
    like = {"command": "python -m model.atlas", "data": data, "sha256": "0", "n": 40, "weights": weights}
    return DataSource(**like, samples=samples)


@pytest.fixture
def store_heads(checkpoints: Path) -> Callable[..., None]:
    """`store_heads(name, next=values)`: means over 40 sentences, all alike but those that are given; `unknown` is the share of
    unknown tokens."""

    def stored(name: str, *, unknown: float | None = None, **values: np.ndarray) -> None:
        means = MEANS | (OF_TEXT if name.startswith("imdb") else {})
        of_all = {name: np.full(SHAPE, value) for name, value in means.items()} | values
        spreads = {name: Spread(mean=value, sd=np.full(SHAPE, 0.05)) for name, value in of_all.items()}
        z = np.zeros((*SHAPE, checkpoint.read_config(name).d_v), np.float32)
        of = replace(source(name, next=30), unknown=unknown)
        write_results(checkpoints / name / HEADS, HeadResults(source=of, spreads=spreads, z=z))

    return stored


@pytest.fixture
def store_examples(checkpoints: Path) -> Callable[..., None]:
    """`store_examples(name, data, rows)`, each row with what differs from the first head's first example."""

    def stored(name: str, data: str, *rows: dict) -> None:
        row = {"layer": 0, "head": 0, "rank": 0, "weight": 0.9, "number": 1, "query": 1, "key": 2}
        row |= {"query_token": "not", "key_token": "great", "before": "", "between": " ", "after": " film"}
        listed = pd.DataFrame([row | item for item in rows])
        write_results(checkpoints / name / EXAMPLES, ResultTable(source=source(name, data), rows=listed))

    return stored
