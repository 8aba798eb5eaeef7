"""Measurement of a data set with Ray Data, on the cores of this machine or on a cluster.

Each worker holds the encoder and measures whole shards; results are merged in the same order as without Ray. If a
worker dies, another one repeats its shards.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
from safetensors.numpy import load, save

from .. import checkpoint
from ..checkpoint import weights_hash
from ..inputs import Input, Picture, Text
from ..loaded import Loaded
from .dataset_examples import Shard
from .dataset_measure import Measure, ProgressCallback
from .run import Engine
from .running_moments import Arrays

INSTALL = "pip install -r requirements-ray.txt"
SHARDS = 32  # shards in memory for each worker
RESTARTS = 8  # of a worker, before its shard fails
STORE = 2**28  # bytes of shared memory for shards, on this machine
PACKAGE = Path(__file__).parents[1]


@contextmanager
def on_ray(address: str | None = None, workers: int | None = None) -> Iterator[Engine]:
    """Context with an engine of so many workers, of one core each; by default one for each core.

    `address` is that of a cluster, whose machines must have the checkpoint in the same folder as this one;
    without it, Ray runs here until the context ends. Raises ValueError, in one sentence, without Ray.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ValueError(f"--engine ray needs Ray: {INSTALL}") from error
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address is None:
        workers = workers or os.cpu_count() or 1
        ray.init(num_cpus=workers, include_dashboard=False, object_store_memory=STORE, **options)
    else:
        try:
            ray.init(address, runtime_env={"py_modules": [str(PACKAGE)]}, **options)
        except (ConnectionError, RuntimeError) as error:
            raise ValueError(f"there is no Ray cluster at {address}") from error
        workers = workers or int(ray.cluster_resources().get("CPU", 1))
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield _Engine(workers)
    finally:
        ray.shutdown()


class _Engine:
    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __call__(
        self, measure: Measure, loaded: Loaded, shards: Iterable[Shard], step: ProgressCallback
    ) -> Iterator[tuple[int, Arrays]]:
        """Raises ValueError as `measure.of` does, and where a machine has other weights in the checkpoint's folder."""
        import ray

        folder = str((loaded.folder or checkpoint.CHECKPOINTS / loaded.name).resolve())
        holding = measure, folder, str(loaded.device), weights_hash(folder)
        waiting = iter(shards)
        while some := list(islice(waiting, SHARDS * self.workers)):
            sizes = {shard.number: len(shard) for shard in some}
            tables = [ray.put(_table(shard)) for shard in some]
            results = ray.data.from_arrow_refs(tables).map_batches(  # type: ignore[arg-type]  # two names of one reference type
                _Worker,
                fn_constructor_args=holding,
                batch_size=None,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(size=min(self.workers, len(some))),
                num_cpus=1,
                max_restarts=RESTARTS,
                max_task_retries=RESTARTS,
            )
            for batch in results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                for row in batch.to_pylist():  # type: ignore[union-attr]  # batches are pyarrow tables
                    if row["refused"] is not None:
                        raise ValueError(row["refused"])
                    step(sizes[row["number"]])
                    yield row["number"], load(row["found"])


class _Worker:
    """Measures shards in a process of its own."""

    def __init__(self, measure: Measure, folder: str, device: str, weights: str) -> None:
        torch.set_num_threads(1)
        self.measure, self.refused = measure, None
        try:
            if weights_hash(folder) != weights:
                raise ValueError(f"a worker has other weights in {folder}")
            self.loaded = checkpoint.load(folder, device)
        except (ValueError, OSError) as error:
            self.refused = str(error)

    def __call__(self, table: pa.Table) -> pa.Table:
        shard, refused, found = _shard(table), self.refused, b""
        if refused is None:
            try:
                found = save(self.measure.of(self.loaded, shard, lambda _: None))
            except ValueError as error:
                refused = str(error)
        return pa.table(
            {
                "number": [shard.number],
                "found": pa.array([found], pa.large_binary()),
                "refused": pa.array([refused], pa.string()),
            }
        )


def _table(shard: Shard) -> pa.Table:
    """A row an example; labels are not needed by what is measured shard by shard."""
    return pa.table(
        {
            "shard": [shard.number] * len(shard),
            "number": list(shard.numbers),
            "text": pa.array([_text(text_or_image) for text_or_image in shard.inputs], pa.string()),
            "picture": pa.array([_content(text_or_image) for text_or_image in shard.inputs], pa.binary()),
            "shape": pa.array(
                [list(getattr(text_or_image, "shape", ())) for text_or_image in shard.inputs],
                pa.list_(pa.int64()),
            ),
        }
    )


def _shard(table: pa.Table) -> Shard:
    rows = table.to_pylist()
    inputs = tuple(
        Text(row["text"]) if row["picture"] is None else Picture(row["picture"], tuple(row["shape"]))
        for row in rows
    )
    numbers = tuple(row["number"] for row in rows)
    return Shard(number=rows[0]["shard"], numbers=numbers, inputs=inputs, labels=None)


def _text(text_or_image: Input) -> str | None:
    # what is no UTF-8 is replaced, as the encoder's tokenizer does
    return (
        text_or_image.text.encode("utf-8", "replace").decode("utf-8")
        if isinstance(text_or_image, Text)
        else None
    )


def _content(text_or_image: Input) -> bytes | None:
    return text_or_image.content if isinstance(text_or_image, Picture) else None
