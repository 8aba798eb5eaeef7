"""Measures a data set with Ray Data, on the cores of this machine or on a cluster.

Each worker holds the encoder and measures whole shards; results are merged in the same order as without Ray. If a
worker dies, another one repeats its shards.
"""

import json
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
from .linked_inputs import Link, LinkedPicture, LinkedText
from .run import Engine
from .running_moments import Arrays

INSTALL = "pip install -r requirements-ray.txt"
SHARDS = 32  # shards in memory for each worker
RESTARTS = 8  # of a worker, before its shard fails
STORE = 2**28  # bytes of shared memory for shards, on this machine
PACKAGE = Path(__file__).parents[1]
_SCHEMA = pa.schema(
    {
        "shard": pa.int64(),
        "number": pa.int64(),
        "text": pa.string(),
        "picture": pa.binary(),
        "shape": pa.list_(pa.int64()),
        "words": pa.list_(pa.list_(pa.int64())),
        "links": pa.string(),
    }
)


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
        import ray.data
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
        """Yields the number and result of each shard, in any order.

        Raises ValueError as `measure.measure_shard` does, and if a machine has other weights in the checkpoint's folder.
        """
        import ray

        folder = str((loaded.folder or checkpoint.CHECKPOINTS / loaded.name).resolve())
        arguments = measure, folder, str(loaded.device), weights_hash(folder)
        remaining = iter(shards)
        while batch := list(islice(remaining, SHARDS * self.workers)):
            sizes = {shard.number: len(shard) for shard in batch}
            tables = [ray.put(_shard_to_table(shard)) for shard in batch]
            results = ray.data.from_arrow_refs(tables).map_batches(  # type: ignore[arg-type]  # two names of one reference type
                _Worker,
                fn_constructor_args=arguments,
                batch_size=None,
                batch_format="pyarrow",
                compute=ray.data.ActorPoolStrategy(size=min(self.workers, len(batch))),
                num_cpus=1,
                max_restarts=RESTARTS,
                max_task_retries=RESTARTS,
            )
            for table in results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                for row in table.to_pylist():  # type: ignore[union-attr]  # batches are pyarrow tables
                    if row["refused"] is not None:
                        raise ValueError(row["refused"])
                    step(sizes[row["number"]])
                    yield row["number"], load(row["result"])


class _Worker:
    """Measures shards in its own process; an error is returned as text, in the column `refused` of the result."""

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
        shard, error_message, result = _table_to_shard(table), self.refused, b""
        if error_message is None:
            try:
                result = save(self.measure.measure_shard(self.loaded, shard, lambda _: None))
            except ValueError as error:
                error_message = str(error)
        return pa.table(
            {
                "number": [shard.number],
                "result": pa.array([result], pa.large_binary()),
                "refused": pa.array([error_message], pa.string()),
            }
        )


def _shard_to_table(shard: Shard) -> pa.Table:
    """The shard as a table with a row for each example."""
    rows = []
    for number, text_or_image in zip(shard.numbers, shard.inputs, strict=True):
        row: dict[str, Any] = {"shard": shard.number, "number": number}
        if isinstance(text_or_image, Text):
            # lone surrogates, which UTF-8 cannot hold, are replaced as the encoder's tokenizer does
            row["text"] = text_or_image.text.encode("utf-8", "replace").decode("utf-8")
        else:
            row |= {"picture": text_or_image.content, "shape": list(text_or_image.shape)}
        if isinstance(text_or_image, LinkedText):
            row["words"] = [list(span) for span in text_or_image.words]
        if isinstance(text_or_image, LinkedText | LinkedPicture):
            row["links"] = json.dumps(text_or_image.links)
        rows.append(row)
    return pa.Table.from_pylist(rows, _SCHEMA)


def _table_to_shard(table: pa.Table) -> Shard:
    """The shard that `_shard_to_table` made into this table."""
    rows = table.to_pylist()
    inputs = tuple(map(_row_to_input, rows))
    return Shard(number=rows[0]["shard"], numbers=tuple(row["number"] for row in rows), inputs=inputs)


def _row_to_input(row: dict[str, Any]) -> Input:
    shape = None if row["shape"] is None else tuple(row["shape"])
    if row["links"] is None:
        return Text(row["text"]) if shape is None else Picture(row["picture"], shape)
    links = tuple(Link._make(link) for link in json.loads(row["links"]))
    if shape is not None:
        return LinkedPicture(row["picture"], shape, links=links)
    return LinkedText(row["text"], words=tuple(map(tuple, row["words"])), links=links)
