"""What is measured of a shard of examples: a value that can be sent to another process, and merged with what others made."""

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
from .batch_statistics import batch_moments, batches_of_one_length
from .dataset_examples import Shard
from .running_moments import Arrays, Moments, from_arrays, merge, to_arrays

ProgressCallback = Callable[[int], object]  # told how many examples are done
TOKENS = "tokens"


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """One pass over a data set. A frozen value: it goes to other processes, and into the key of what is stored half done."""

    name: ClassVar[str]
    shard: int  # examples in a shard

    @abstractmethod
    def of(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        """What one shard comes to. Raises ValueError, in one sentence, where an example cannot be read."""

    @abstractmethod
    def merged(self, one: Arrays, other: Arrays) -> Arrays:
        """What both come to together."""


class MomentsMeasure(Measure):
    """Means and spreads."""

    def merged(self, one: Arrays, other: Arrays) -> Arrays:
        both = from_arrays(one)
        merge(both, from_arrays(other))
        return to_arrays(both)


@dataclass(frozen=True, kw_only=True)
class Statistics(MomentsMeasure):
    """`model.atlas.batch_statistics.batch_moments` of all heads and layers: one forward an example; and `TOKENS`, of texts [2]: how many
    tokens were read, and how many of them the vocabulary lacks."""

    name: ClassVar[str] = "statistics"
    shard: int = 1024

    def of(self, loaded: Loaded, shard: Shard, step: ProgressCallback) -> Arrays:
        total: dict = {}
        for _, inputs, positions in batches(loaded, shard):
            merge(total, batch_moments(loaded, inputs, positions) | _counted(positions))
            step(len(positions))
        return to_arrays(total)


def _counted(positions: Sequence[Positions]) -> dict[str, Moments]:
    counts = [[each.n_read, each.n_unknown] for each in positions if isinstance(each, Encoded)]
    return {TOKENS: Moments.of(np.array(counts, float))} if counts else {}


def batches(loaded: Loaded, shard: Shard) -> Iterator[tuple[list[int], torch.Tensor, list[Positions]]]:
    """The places in the shard of examples of one length, the encoder's input for them, and what stands at their positions."""
    prepared = []
    for number, given in zip(shard.numbers, shard.inputs, strict=True):
        try:
            prepared.append(prepare(loaded, given))
        except ValueError as error:
            raise ValueError(f"example {number}: {error}") from error
    for places in batches_of_one_length(loaded.config, [len(positions) for _, positions in prepared]):
        inputs, positions = zip(*(prepared[place] for place in places), strict=True)
        yield places, torch.cat(inputs), list(positions)


def moments_with_prefix(arrays: Mapping, beginning: str) -> dict:
    """The moments whose name begins so, by the rest of their name, in alphabetical order."""
    found = from_arrays(arrays)
    return {name.removeprefix(beginning): found[name] for name in sorted(found) if name.startswith(beginning)}
