"""Base classes of measures over a data set, whose results for shards can be stored, sent to other processes, and merged."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from ..inputs import prepare
from ..inputs.text import Encoded
from ..loaded import Loaded
from ..record import Positions
from .batch_statistics import batch_moments, batches_of_equal_length
from .dataset_examples import Shard
from .running_moments import Arrays, Moments, from_arrays, merge, to_arrays

ProgressCallback = Callable[[int], object]  # called with the number of examples just measured
TOKENS = "tokens"


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A kind of measurement over a data set: a frozen value, which can be sent to other processes and be part of a key."""

    name: ClassVar[str]
    shard: int  # examples in a shard

    @abstractmethod
    def measure_shard(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        """Result of one shard, arrays by name; calls `step` with the number of examples after each batch.

        Raises ValueError, with a one-sentence message, if an example cannot be read.
        """

    @abstractmethod
    def merged(self, one: Arrays, other: Arrays) -> Arrays:
        """Result for two sets of shards together, from the result of each."""


class MomentsMeasure(Measure):
    """A measure whose results are means and standard deviations over the examples."""

    def merged(self, one: Arrays, other: Arrays) -> Arrays:
        total = from_arrays(one)
        merge(total, from_arrays(other))
        return to_arrays(total)


@dataclass(frozen=True, kw_only=True)
class Statistics(MomentsMeasure):
    """Statistics of all heads and layers (`batch_moments`), from one forward pass per example.

    For texts also `TOKENS` [2]: the mean number of tokens read per example, and of those that are not in the vocabulary.
    """

    name: ClassVar[str] = "statistics"
    shard: int = 1024

    def measure_shard(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        moments: dict = {}
        for _, inputs, positions in batches(loaded, shard):
            merge(moments, batch_moments(loaded, inputs, positions) | _token_counts(positions))
            step(len(positions))
        return to_arrays(moments)


def _token_counts(positions: Sequence[Positions]) -> dict[str, Moments]:
    counts = [[example.n_read, example.n_unknown] for example in positions if isinstance(example, Encoded)]
    return {TOKENS: Moments.from_examples(np.array(counts, float))} if counts else {}


def batches(loaded: Loaded, shard: Shard) -> Iterator[tuple[list[int], torch.Tensor, list[Positions]]]:
    """Yields batches of examples of equal length: their indices in the shard, the encoder's input for them, and their
    positions.
    """
    prepared = []
    for number, text_or_image in zip(shard.numbers, shard.inputs, strict=True):
        try:
            prepared.append(prepare(loaded, text_or_image))
        except ValueError as error:
            raise ValueError(f"example {number}: {error}") from error
    for indices in batches_of_equal_length(loaded.config, [len(positions) for _, positions in prepared]):
        inputs, positions = zip(*(prepared[index] for index in indices), strict=True)
        yield indices, torch.cat(inputs), list(positions)


def moments_with_prefix(arrays: Mapping, prefix: str) -> dict:
    """The moments whose names begin with `prefix`, by the rest of the name, in alphabetical order."""
    moments = from_arrays(arrays)
    return {name.removeprefix(prefix): moments[name] for name in sorted(moments) if name.startswith(prefix)}
