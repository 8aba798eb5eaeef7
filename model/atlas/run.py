"""Runs one measure over a data set, shard by shard, on one or several machines, and stores intermediate results."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from tqdm import tqdm

from ..device import release_memory
from ..files.writing import replacing
from ..loaded import Loaded
from .dataset_examples import Examples, Shard
from .dataset_measure import Measure, ProgressCallback
from .running_moments import Arrays


class PartialResult:
    """The merged result of the first shards of a data set, stored with a hash of everything that it depends on.

    A run that was stopped resumes from it, with the same final result.
    """

    def __init__(self, path: Path, **depends_on: object) -> None:
        self.path = path
        self.key = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()

    def load(self) -> tuple[int, Arrays]:
        """Number of finished shards and their result; 0 and {} if there is no file, or one of other data, weights or options."""
        try:
            with safe_open(self.path, "numpy") as file:
                metadata = file.metadata() or {}
                if metadata.get("key") != self.key:
                    return 0, {}
                return int(metadata["shards"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError, KeyError):
            return 0, {}

    def save(self, shards: int, arrays: Arrays) -> None:
        """Stores the result of the first `shards` shards."""
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.path) as temporary:
            save_file(contiguous, temporary, {"key": self.key, "shards": str(shards)})

    def remove(self) -> None:
        """Deletes the file."""
        self.path.unlink(missing_ok=True)


# Called with a measure, an encoder and shards; yields the number and result of each shard in any order. Raises
# ValueError for an example that cannot be measured.
Engine = Callable[[Measure, Loaded, Iterable[Shard], ProgressCallback], Iterator[tuple[int, Arrays]]]


def run_locally(
    measure: Measure, loaded: Loaded, shards: Iterable[Shard], step: ProgressCallback
) -> Iterator[tuple[int, Arrays]]:
    """Yields the number and result of each shard, measured in this process one after the other."""
    return ((shard.number, measure.measure_shard(loaded, shard, step)) for shard in shards)


def run_measure(
    measure: Measure,
    loaded: Loaded,
    examples: Examples,
    progress: PartialResult,
    engine: Engine = run_locally,
) -> Arrays:
    """Result of the measure over all examples, arrays by name. Shards are merged in order, so that every run gives the same
    bits.

    Raises ValueError as `measure.measure_shard` does.
    """
    n_finished, result = progress.load()
    with tqdm(
        total=len(examples),
        initial=min(n_finished * measure.shard, len(examples)),
        desc=f"{loaded.name}: {measure.name}",
        unit=" examples",
        disable=None,
    ) as progress_bar:
        pending: dict[int, Arrays] = {}
        for number, shard_result in engine(
            measure, loaded, examples.shards(measure.shard, n_finished), progress_bar.update
        ):
            pending[number] = shard_result
            while n_finished in pending:
                shard_result = pending.pop(n_finished)
                result = measure.merged(result, shard_result) if result else shard_result
                n_finished += 1
                progress.save(n_finished, result)
            release_memory()
    return result
