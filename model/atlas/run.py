"""Runs one measure over a data set, shard by shard, on one or several machines, and stores intermediate results."""

from collections.abc import Callable, Iterable, Iterator

from tqdm import tqdm

from ..device import release_memory
from ..loaded import Loaded
from .dataset_examples import Examples, Shard
from .dataset_measure import Measure, ProgressCallback
from .partial_result import PartialResult
from .running_moments import Arrays

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
