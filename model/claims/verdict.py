"""From numbers to a verdict, by rules that were fixed before anything was measured.

Encoders of one seed are a pair: the same data, one with the norm before the sublayers and one with it after. With
`FEWEST_TESTED` pairs or more, an exact sign-flip test tells whether chance could do the same. With fewer, no such test
can reach `SIGNIFICANT`: then all that is said is whether every encoder of one placement lies on one side of every
encoder of the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from .measurements import Measurement

SIGNIFICANT = 0.05
FEWEST_TESTED = 6  # pairs: of fewer, even all signs alike have p = 2 / 2^5 = 0.06
FEWEST_SEEDS = 3  # with two, one comparison in three would separate the placements by chance
LEARNED = 0.3  # accuracy of a run on digits that got somewhere; guessing gives 0.1


class ClaimOutcome(Enum):
    """In the order in which they are listed."""

    HOLDS = "as claimed, beyond chance"
    OPPOSITE = "the opposite, beyond chance"
    AGREE = "too few seeds for a test, but all as claimed"
    AGREE_ON_OPPOSITE = "too few seeds for a test, but all against the claim"
    NOT_SHOWN = "no difference that could not be chance"
    TOO_FEW = "too few seeds to say anything"
    LEFT_OUT = "nothing to compare: post-LN only guesses"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one measurement says of a claim."""

    measured: Measurement
    outcome: ClaimOutcome
    n_as_claimed: int | None = None  # pairs, or seeds of one placement; None where nothing is counted
    p: float | None = None  # two-sided, corrected; None where nothing was tested


@dataclass(frozen=True, slots=True)
class Larger:
    """The figure is larger in the placement `placement`, "pre" or "post"."""

    placement: str
    counted: ClassVar[str] = "pairs"

    def differences(self, measured: Measurement) -> list[float]:
        """By pair; above 0: as claimed."""
        sign = 1 if self.placement == "pre" else -1
        return [sign * (pre - post) for pre, post in zip(measured.pre, measured.post, strict=True)]

    def side(self, measured: Measurement) -> int:
        """1 or −1 where every encoder of one placement is above every one of the other; 1: as claimed."""
        larger, smaller = measured.pre, measured.post
        if self.placement == "post":
            larger, smaller = smaller, larger
        return (min(larger) > max(smaller)) - (max(larger) < min(smaller))


@dataclass(frozen=True, slots=True)
class Beyond:
    """The figure of `placement` is above `than`, or below it, whatever it is in the other placement."""

    placement: str  # "pre" or "post"
    than: float
    above: bool = True
    counted: ClassVar[str] = "seeds"

    def differences(self, measured: Measurement) -> list[float]:
        """By seed; above 0: as claimed."""
        values = measured.pre if self.placement == "pre" else measured.post
        return [value - self.than if self.above else self.than - value for value in values]

    def side(self, measured: Measurement) -> int:
        """1 or −1 where every seed is on one side of `than`; 1: as claimed."""
        differences = self.differences(measured)
        return (min(differences) > 0) - (max(differences) < 0)


@dataclass(frozen=True, slots=True)
class FurtherThanSeeds:
    """Encoders of both placements are further from each other than any two seeds of one.

    It is never tested: the distances of a few encoders from each other are no pairs.
    """

    counted: ClassVar[str] = ""

    def differences(self, _: Measurement) -> list[float]:
        return []

    def side(self, measured: Measurement) -> int:
        """1 where every distance between placements is above every one between seeds; −1 where below."""
        across, within = measured.across or (), (*measured.pre, *measured.post)
        return (min(across) > max(within)) - (max(across) < min(within))


Rule = Larger | Beyond | FurtherThanSeeds


def judge(rule: Rule, measurements: Sequence[Measurement]) -> list[Judgement]:
    """Of each measurement of one claim; p is corrected for how many of them are tested."""
    differences = [rule.differences(measured) for measured in measurements]
    tested = [number for number, of_one in enumerate(differences) if len(of_one) >= FEWEST_TESTED]
    corrected = holm([sign_flip_p(differences[number]) for number in tested])
    p = dict(zip(tested, corrected, strict=True))
    return [
        _tested(measured, differences[number], p[number]) if number in p else _described(rule, measured)
        for number, measured in enumerate(measurements)
    ]


def _tested(measured: Measurement, differences: list[float], p: float) -> Judgement:
    outcome = ClaimOutcome.NOT_SHOWN
    if p < SIGNIFICANT:
        outcome = ClaimOutcome.HOLDS if math.fsum(differences) > 0 else ClaimOutcome.OPPOSITE
    return Judgement(measured, outcome, _n_above_zero(differences), p)


def _described(rule: Rule, measured: Measurement) -> Judgement:
    differences = rule.differences(measured)
    n_as_claimed = _n_above_zero(differences) if differences else None
    if len(measured.seeds) < FEWEST_SEEDS:
        return Judgement(measured, ClaimOutcome.TOO_FEW, n_as_claimed)
    by_side = {1: ClaimOutcome.AGREE, -1: ClaimOutcome.AGREE_ON_OPPOSITE, 0: ClaimOutcome.NOT_SHOWN}
    return Judgement(measured, by_side[rule.side(measured)], n_as_claimed)


def _n_above_zero(differences: list[float]) -> int:
    return sum(difference > 0 for difference in differences)


def sign_flip_p(differences: Sequence[float]) -> float:
    """Two-sided p of the mean of paired differences, exact: the share of all 2^n ways to choose their signs in which the
    sum is at least as far from 0.

    As scipy.stats.permutation_test gives it; importing scipy.stats takes longer than the page has.
    """
    values = np.abs(np.asarray(differences, float))
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums - value, sums + value))
    rounding = 1e-9 * values.sum()  # sums of the same numbers in another order
    return float((np.abs(sums) >= abs(math.fsum(differences)) - rounding).mean())


def holm(p: Sequence[float]) -> list[float]:
    """Corrected after Holm (1979), so that among all of them one false alarm in `1 / SIGNIFICANT` is to be expected."""
    corrected, largest = [0.0] * len(p), 0.0
    for rank, number in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[number]))
        corrected[number] = largest
    return corrected


def chance_of_separation(n_seeds: int) -> float:
    """How often every encoder of one placement lies on one side of all of the other where the placement changes nothing."""
    return 2 / math.comb(2 * n_seeds, n_seeds)


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
