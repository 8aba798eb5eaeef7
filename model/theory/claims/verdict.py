"""From numbers to a verdict, by rules that are fixed before anything is measured."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from .stored import Measurement

FEWEST_SEEDS = 3  # with two, one measurement in three would show a difference where there is none


class Outcome(Enum):
    HOLDS = "holds"
    OPPOSITE = "the opposite"
    NOT_SEEN = "no difference beyond chance"
    TOO_FEW = "too few seeds"


@dataclass(frozen=True, slots=True)
class Larger:
    """The figure is larger under the placement `under`.

    It holds where each pair of the same seed says so and the means are further apart than the seeds of one placement.
    """

    under: str  # "pre" or "post"

    def outcome(self, measured: Measurement) -> Outcome:
        sign = 1 if self.under == "pre" else -1
        above = [sign * (one - other) for one, other in zip(measured.pre, measured.post, strict=True)]
        if len(above) < FEWEST_SEEDS:
            return Outcome.TOO_FEW
        agree = all(each > 0 for each in above) or all(each < 0 for each in above)
        if not agree or apart(measured) <= spread(measured):
            return Outcome.NOT_SEEN
        return Outcome.HOLDS if above[0] > 0 else Outcome.OPPOSITE


@dataclass(frozen=True, slots=True)
class Beyond:
    """The figure is above `than` under the placement `of` alone, or below it, whatever it is under the other one.

    It holds where every seed says so and the mean is further from `than` than the seeds are from each other.
    """

    of: str  # "pre" or "post"
    than: float
    above: bool = True

    def outcome(self, measured: Measurement) -> Outcome:
        values = measured.pre if self.of == "pre" else measured.post
        if len(values) < FEWEST_SEEDS:
            return Outcome.TOO_FEW
        over = [value - self.than for value in values]
        agree = all(each > 0 for each in over) or all(each < 0 for each in over)
        if not agree or abs(mean(over)) <= max(values) - min(values):
            return Outcome.NOT_SEEN
        return Outcome.HOLDS if (over[0] > 0) == self.above else Outcome.OPPOSITE


@dataclass(frozen=True, slots=True)
class FurtherThanSeeds:
    """Encoders of both placements are further from each other than any two seeds of one; the opposite where nearer."""

    def outcome(self, measured: Measurement) -> Outcome:
        if len(measured.seeds) < FEWEST_SEEDS:
            return Outcome.TOO_FEW
        across, within = measured.across or (), (*measured.pre, *measured.post)
        if min(across) > max(within):
            return Outcome.HOLDS
        return Outcome.OPPOSITE if max(across) < min(within) else Outcome.NOT_SEEN


Rule = Larger | Beyond | FurtherThanSeeds


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def apart(measured: Measurement) -> float:
    """How far the means of both placements are from each other; of `across`, the mean itself."""
    if measured.across is not None:
        return mean(measured.across)
    return abs(mean(measured.pre) - mean(measured.post))


def spread(measured: Measurement) -> float | None:
    """How far two seeds of one placement are from each other at most; None where there is one seed."""
    if len(measured.seeds) < 2:
        return None
    if measured.across is not None:
        return max(*measured.pre, *measured.post)
    return max(max(values) - min(values) for values in (measured.pre, measured.post))


def by_chance(n_seeds: int) -> float:
    """How often all seeds of one placement lie on one side of all of the other where the placement changes nothing."""
    return 2 / math.comb(2 * n_seeds, n_seeds)


def together(outcomes: Iterable[tuple[str, Outcome]], depends_on: str) -> str:
    """The verdict over several measurements, by where they were made; those of too few seeds have no say."""
    counted = [(where, outcome) for where, outcome in outcomes if outcome is not Outcome.TOO_FEW]
    found = {outcome for _, outcome in counted}
    if not found:
        return "cannot be told from so few seeds"
    if found == {Outcome.HOLDS}:
        return "holds here"
    if found == {Outcome.OPPOSITE}:
        return "does not hold here: the opposite is true"
    if Outcome.HOLDS not in found:
        return "does not hold here"
    order = list(Outcome)
    groups = itertools.groupby(
        sorted(counted, key=lambda pair: order.index(pair[1])), key=lambda pair: pair[1]
    )
    parts = [f"{outcome.value}: {', '.join(where for where, _ in group)}" for outcome, group in groups]
    return f"depends on {depends_on} ({'; '.join(parts)})"
