"""One pass over a data set: shard by shard, here or on other machines, stored on the way."""

from collections.abc import Callable, Iterable, Iterator

from tqdm import tqdm

from ..device import hand_back
from ..loaded import Loaded
from .dataset_examples import Examples, Shard
from .dataset_measure import Measure, ProgressCallback
from .partial_result import PartialResult
from .running_moments import Arrays

# From what is measured, the encoder and shards to the number of each shard and what it came to, in any order. What it
# cannot measure raises ValueError.
Engine = Callable[[Measure, Loaded, Iterable[Shard], ProgressCallback], Iterator[tuple[int, Arrays]]]


def run_locally(
    measure: Measure, loaded: Loaded, shards: Iterable[Shard], step: ProgressCallback
) -> Iterator[tuple[int, Arrays]]:
    """In this process, one shard after the other."""
    return ((shard.number, measure.of(loaded, shard, step)) for shard in shards)


def run_measure(
    measure: Measure,
    loaded: Loaded,
    examples: Examples,
    progress: PartialResult,
    engine: Engine = run_locally,
) -> Arrays:
    """What all examples come to. Shards are merged in order, so that it is the same to the last bit in every run.

    Raises ValueError as `measure.of` does.
    """
    done, total = progress.load()
    with tqdm(
        total=len(examples),
        initial=min(done * measure.shard, len(examples)),
        desc=f"{loaded.name}: {measure.name}",
        unit=" examples",
        disable=None,
    ) as bar:
        waiting: dict[int, Arrays] = {}
        for number, found in engine(measure, loaded, examples.shards(measure.shard, done), bar.update):
            waiting[number] = found
            while done in waiting:
                part = waiting.pop(done)
                total = measure.merged(total, part) if total else part
                done += 1
                progress.save(done, total)
            hand_back()
    return total
