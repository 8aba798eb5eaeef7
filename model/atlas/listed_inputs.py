"""Measures the heads over inputs that are in memory; nothing is written to a file."""

import hashlib
from collections.abc import Sequence

from ..checkpoint import weights_hash
from ..inputs import Input, Text
from ..loaded import Loaded
from .data_source import DataSource
from .dataset_examples import Shard
from .dataset_measure import ProgressCallback, Statistics
from .measure_dataset import statistics_results
from .results import HeadResults


def measure_listed_inputs(
    loaded: Loaded, inputs: Sequence[Input], name: str, command: str, step: ProgressCallback
) -> HeadResults:
    """The statistics of all heads over `inputs`, as `heads.parquet` holds them; `name` is what the inputs are called on screen.

    `command` says how to repeat it. Calls `step` with the number of inputs just measured. Raises ValueError, with a
    one-sentence message, if there are fewer than two inputs or one cannot be read.
    """
    if len(inputs) < 2:
        raise ValueError(f"a spread needs two inputs at least, got {len(inputs)}")
    shard = Shard(number=0, numbers=tuple(range(1, len(inputs) + 1)), inputs=tuple(inputs))
    source = DataSource(
        command=command,
        data=name,
        sha256=_sha256(inputs),
        n=len(inputs),
        weights=(weights_hash(loaded.folder or loaded.name),),
    )
    return statistics_results(source, Statistics().measure_shard(loaded, shard, step))[0]


def _sha256(inputs: Sequence[Input]) -> str:
    """SHA-256 hash of all inputs together, in hexadecimal."""
    digest = hashlib.sha256()
    for value in inputs:
        digest.update(
            repr((value.text, value.second)).encode() if isinstance(value, Text) else value.array.tobytes()
        )
    return digest.hexdigest()
