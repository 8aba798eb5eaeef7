"""Runs one measure over a data set, shard by shard, in this process or with Ray, and stores intermediate results.

With Ray, on the cores of this machine or on a cluster, each worker holds the encoder and measures whole shards. Results are
merged in the same order as without Ray. If a worker dies, another one repeats its shards.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from tqdm import tqdm

from .. import checkpoint
from ..checkpoint import weights_hash
from ..device import release_memory
from ..files.content import replacement_file
from ..loaded import Loaded
from .dataset_examples import Examples, Shard
from .dataset_measure import Measure, ProgressCallback
from .running_moments import Arrays


class PartialResult:
    """A file with the merged result of the first shards of a data set, from which a stopped run resumes.

    It also holds a hash of everything that the result depends on, so that results of other data or options are not used.
    """

    def __init__(self, path: Path, **depends_on: object) -> None:
        self.path = path
        self.key = hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()

    def load(self) -> tuple[int, Arrays]:
        """Number of finished shards and their merged result; 0 and {} if there is no file, or one of other data or options."""
        try:
            with safe_open(self.path, "numpy") as file:
                metadata = file.metadata() or {}
                if metadata.get("key") != self.key:
                    return 0, {}
                return int(metadata["shards"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError, KeyError):
            return 0, {}

    def save(self, shards: int, arrays: Arrays) -> None:
        """Stores the merged result of the first `shards` shards."""
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replacement_file(self.path) as temporary:
            save_file(contiguous, temporary, {"key": self.key, "shards": str(shards)})

    def remove(self) -> None:
        """Deletes the file."""
        self.path.unlink(missing_ok=True)


# Called with a measure, an encoder and shards; yields the number and result of each shard in any order. Raises
# ValueError for an example that cannot be measured.
Engine = Callable[[Measure, Loaded, Iterable[Shard], ProgressCallback], Iterator[tuple[int, Arrays]]]


def run_locally(
    measure: Measure, loaded: Loaded, shards: Iterable[Shard], report: ProgressCallback
) -> Iterator[tuple[int, Arrays]]:
    """Yields the number and result of each shard, measured in this process one after the other."""
    return ((shard.number, measure.measure_shard(loaded, shard, report)) for shard in shards)


def run_measure(
    measure: Measure,
    loaded: Loaded,
    examples: Examples,
    progress: PartialResult,
    engine: Engine = run_locally,
) -> Arrays:
    """Result of the measure over all examples, arrays by name; `progress` is the file for the results so far.

    Shards are merged in their order, so that every run gives bit by bit the same result. Raises ValueError as
    `measure.measure_shard` does.
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


INSTALL = "pip install -r requirements-ray.txt"
AHEAD = 2  # shards that each worker has been given
RESTARTS = 8  # of a worker, before its shard fails
STORE = 2**28  # bytes of shared memory for shards, on this machine
PACKAGE = Path(__file__).parents[1]


@contextmanager
def on_ray(address: str | None = None, workers: int | None = None) -> Iterator[Engine]:
    """Context manager that yields an engine with `workers` processes, each on one core; by default one for every core.

    `address` is that of a Ray cluster, whose machines must have the checkpoint in the same folder as this one. If it is
    None, Ray runs on this machine until the context ends. Raises ValueError, with a one-sentence message, if Ray is not
    installed or there is no cluster at `address`.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
    except ImportError as error:
        raise ValueError(f"--engine ray needs Ray: {INSTALL}") from error
    ray_options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        workers = workers or os.cpu_count() or 1
        ray.init(num_cpus=workers, include_dashboard=False, object_store_memory=STORE, **ray_options)
    else:
        try:
            ray.init(address, runtime_env={"py_modules": [str(PACKAGE)]}, **ray_options)
        except (ConnectionError, RuntimeError) as error:
            raise ValueError(f"there is no Ray cluster at {address}") from error
        workers = workers or int(ray.cluster_resources().get("CPU", 1))
    try:
        yield partial(_measure_on_ray, workers)
    finally:
        ray.shutdown()


def _measure_on_ray(
    workers: int, measure: Measure, loaded: Loaded, shards: Iterable[Shard], report: ProgressCallback
) -> Iterator[tuple[int, Arrays]]:
    """Yields the number and result of each shard, measured in `workers` processes of Ray, in any order.

    Raises ValueError as `measure.measure_shard` does, and if a machine has other weights in the checkpoint's folder.
    """
    import ray
    from ray.util import ActorPool

    folder = str((loaded.folder or checkpoint.CHECKPOINTS / loaded.name).resolve())
    worker = ray.remote(num_cpus=1, max_restarts=RESTARTS, max_task_retries=RESTARTS)(Worker)
    arguments = measure, folder, str(loaded.device), weights_hash(folder)
    pool = ActorPool([worker.remote(*arguments) for _ in range(workers)])
    remaining = iter(shards)

    def submit(n_shards: int) -> None:
        for shard in islice(remaining, n_shards):
            pool.submit(lambda actor, shard: actor.measure.remote(shard), shard)

    submit(AHEAD * workers)
    while pool.has_next():
        number, n_examples, result = pool.get_next_unordered()
        if isinstance(result, str):
            raise ValueError(result)
        submit(1)
        report(n_examples)
        yield number, result


class Worker:
    """Measures shards in its own process, on Ray.

    It returns an error as its message, in the place of the result, since Ray would add a traceback to an error that is raised.
    `weights` is the hash that the weights in `folder` must have.
    """

    def __init__(self, measure: Measure, folder: str, device: str, weights: str) -> None:
        torch.set_num_threads(1)
        self.measure_shard = measure.measure_shard
        self.loaded: Loaded | str
        try:
            if weights_hash(folder) != weights:
                raise ValueError(f"a worker has other weights in {folder}")
            self.loaded = checkpoint.load(folder, device)
        except (ValueError, OSError) as error:
            self.loaded = str(error)

    def measure(self, shard: Shard) -> tuple[int, int, Arrays | str]:
        """Number of the shard, number of its examples, and its result or an error message."""
        if isinstance(self.loaded, str):
            return shard.number, len(shard), self.loaded
        try:
            return shard.number, len(shard), self.measure_shard(self.loaded, shard, lambda _: None)
        except ValueError as error:
            return shard.number, len(shard), str(error)
