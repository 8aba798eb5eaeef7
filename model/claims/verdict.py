"""Verdicts by rules that were fixed before measuring, from the measurements stored in `checkpoints/claims.json`.

Two encoders of one seed form a pair: trained on the same data, one is pre-LN and the other post-LN. With `FEWEST_TESTED`
pairs or more, an exact sign-flip test decides whether the difference could be chance. With fewer pairs no such test can
reach `SIGNIFICANT`; then the verdict only states whether all values of one placement are above or below all values of the
other. The verdicts on a claim in several kinds of encoders are combined into one.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, TypedDict

import numpy as np
from msgspec import Meta

from ..checkpoint import CHECKPOINTS
from ..files.content import read_as, replace_text
from ..measures.significance import holm
from ..schema import Count, Number

CLAIMS_FILE = Path("claims.json")  # below the checkpoints
COMMAND = "python -m model.train.claims --data FOLDER"
SIGNIFICANT = 0.05
FEWEST_TESTED = 6  # pairs: with fewer, even equal signs of all give p = 2 / 2^5 = 0.06
FEWEST_SEEDS = 3  # with two, one comparison in three would separate the placements by chance
LEARNED = 0.3  # accuracy from which a run on digits counts as learning; guessing gives 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Values of one figure, measured on encoders that differ only in norm placement, for each of the `seeds`.

    `pre[i]` and `post[i]` are the values of the two encoders of `seeds[i]`. For distances between encoders,
    `across` holds those between the placements, and `pre` and `post` those between two seeds of one placement.
    Raises ValueError if there are not as many values as the seeds require, or a value is not finite.
    """

    figure: str  # by the names of `model.claims.catalogue`
    # "fresh": untrained encoders and short runs; "runs": the stored ones; "trained": checkpoints
    source: Literal["fresh", "runs", "trained"]
    where: str  # which encoders, as it stands on the page
    n: Count  # how many examples each value is of
    of: str  # what these are
    seeds: Annotated[tuple[Count, ...], Meta(min_length=1)]
    pre: tuple[Number, ...]
    post: tuple[Number, ...]
    across: tuple[Number, ...] | None = None
    optimizer: str | None = None  # of trained encoders

    def __post_init__(self) -> None:
        n_seeds = len(self.seeds)
        expected_lengths = (n_seeds, n_seeds) if self.across is None else (n_seeds * (n_seeds - 1) // 2,) * 2
        if not n_seeds or (len(self.pre), len(self.post)) != expected_lengths:
            raise ValueError(
                f"{self.figure}, {self.where}: {n_seeds} seeds, {len(self.pre)} and {len(self.post)} values"
            )
        if self.across is not None and len(self.across) != n_seeds * n_seeds:
            raise ValueError(
                f"{self.figure}, {self.where}: {n_seeds} seeds, {len(self.across)} values across"
            )
        if not all(map(math.isfinite, (*self.pre, *self.post, *(self.across or ())))):
            raise ValueError(f"{self.figure}, {self.where}: a value is not finite")


class StoredMeasurements(TypedDict):
    """Content of `checkpoints/claims.json`: the measurements, and the command that made them."""

    command: str
    measured: list[Measurement]


def read_measurements(path: Path = CHECKPOINTS / CLAIMS_FILE) -> list[Measurement]:
    """The stored measurements; an empty list if there is no file.

    Raises ValueError, with a one-sentence message, if the file is damaged.
    """
    stored = read_as(path, StoredMeasurements)
    return stored["measured"] if stored else []


def write_measurements(path: Path, measured: Iterable[Measurement]) -> None:
    """Writes the measurements as JSON, one per line."""
    rows = ",\n".join(
        json.dumps(asdict(measurement), ensure_ascii=False, allow_nan=False) for measurement in measured
    )
    replace_text(path, f'{{"command": "{COMMAND}", "measured": [\n{rows}\n]}}\n')


class ClaimOutcome(Enum):
    """Possible verdicts on a claim, in the order in which a page lists them."""

    HOLDS = "as claimed, beyond chance"
    OPPOSITE = "the opposite, beyond chance"
    AGREE = "too few seeds for a test, but all as claimed"
    AGREE_ON_OPPOSITE = "too few seeds for a test, but all against the claim"
    NO_CLEAR_DIFFERENCE = "no difference that could not be chance"
    TOO_FEW = "too few seeds to say anything"
    LEFT_OUT = "nothing to compare: post-LN only guesses"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict that one measurement gives on a claim."""

    measured: Measurement
    outcome: ClaimOutcome
    n_as_claimed: int | None = None  # pairs, or seeds of one placement; None where nothing is counted
    p: float | None = None  # two-sided, corrected; None where nothing was tested


@dataclass(frozen=True, slots=True)
class Larger:
    """Rule: the figure is larger in the norm placement `placement`, "pre" or "post", than in the other."""

    placement: str
    counted_noun: ClassVar[str] = "pairs"

    def differences(self, measured: Measurement) -> list[float]:
        """Difference between the placements in each pair, positive where `placement` has the larger value."""
        sign = 1 if self.placement == "pre" else -1
        return [sign * (pre - post) for pre, post in zip(measured.pre, measured.post, strict=True)]

    def direction(self, measured: Measurement) -> int:
        """1 if the figure of every encoder with `placement` is above that of every encoder with the other placement, −1 if every
        one is below, and 0 if the two ranges overlap.
        """
        larger, smaller = measured.pre, measured.post
        if self.placement == "post":
            larger, smaller = smaller, larger
        return (min(larger) > max(smaller)) - (max(larger) < min(smaller))


@dataclass(frozen=True, slots=True)
class Beyond:
    """Rule: in the norm placement `placement` the figure is above `bound`, or below it if not `above`.

    The other placement does not matter.
    """

    placement: str  # "pre" or "post"
    bound: float
    above: bool = True
    counted_noun: ClassVar[str] = "seeds"

    def differences(self, measured: Measurement) -> list[float]:
        """Signed distance of each seed's value from `bound`, positive on the claimed side."""
        values = measured.pre if self.placement == "pre" else measured.post
        return [value - self.bound if self.above else self.bound - value for value in values]

    def direction(self, measured: Measurement) -> int:
        """1 if the values of all seeds are on the claimed side of `bound`, −1 if all are on the other side, else 0."""
        differences = self.differences(measured)
        return (min(differences) > 0) - (max(differences) < 0)


@dataclass(frozen=True, slots=True)
class FurtherThanSeeds:
    """Rule: the distance between encoders of different placements is larger than that between any two seeds of one placement.

    No test is made for this rule: the distances between a few encoders are not independent pairs.
    """

    counted_noun: ClassVar[str] = ""

    def differences(self, _: Measurement) -> list[float]:
        """An empty list, since this rule compares no pairs."""
        return []

    def direction(self, measured: Measurement) -> int:
        """1 if all distances between placements are above all those within a placement, −1 if all are below, else 0."""
        across_placements, within_placement = measured.across or (), (*measured.pre, *measured.post)
        return (min(across_placements) > max(within_placement)) - (
            max(across_placements) < min(within_placement)
        )


Rule = Larger | Beyond | FurtherThanSeeds


def judge(rule: Rule, measurements: Sequence[Measurement]) -> list[Judgement]:
    """Verdict of each measurement of one claim, in the same order; p-values are corrected for the number of tests."""
    differences = [rule.differences(measured) for measured in measurements]
    tested_indices = [index for index, values in enumerate(differences) if len(values) >= FEWEST_TESTED]
    corrected_p = holm(np.array([sign_flip_p(differences[index]) for index in tested_indices])).tolist()
    p = dict(zip(tested_indices, corrected_p, strict=True))
    return [
        _judgement(rule, measured, differences[index], p.get(index))
        for index, measured in enumerate(measurements)
    ]


def _judgement(rule: Rule, measured: Measurement, differences: list[float], p: float | None) -> Judgement:
    outcome = ClaimOutcome.NO_CLEAR_DIFFERENCE
    if p is not None:
        if p < SIGNIFICANT:
            outcome = ClaimOutcome.HOLDS if math.fsum(differences) > 0 else ClaimOutcome.OPPOSITE
    elif len(measured.seeds) < FEWEST_SEEDS:
        outcome = ClaimOutcome.TOO_FEW
    elif direction := rule.direction(measured):
        outcome = ClaimOutcome.AGREE if direction > 0 else ClaimOutcome.AGREE_ON_OPPOSITE
    n_as_claimed = sum(difference > 0 for difference in differences) if differences else None
    return Judgement(measured, outcome, n_as_claimed, p)


def sign_flip_p(differences: Sequence[float]) -> float:
    """Exact two-sided p-value of the mean of paired differences.

    It is the share of all 2^n sign assignments whose sum is at least as far from 0. scipy.stats.permutation_test gives the
    same, but its import takes too long for a page.
    """
    values = np.abs(np.asarray(differences, float))
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums - value, sums + value))
    rounding = 1e-9 * values.sum()  # sums of the same numbers in another order
    return float((np.abs(sums) >= abs(math.fsum(differences)) - rounding).mean())


def chance_of_separation(n_seeds: int) -> float:
    """Probability that by chance all `n_seeds` values of one placement lie above all `n_seeds` values of the other."""
    return 2 / math.comb(2 * n_seeds, n_seeds)


class Overall(Enum):
    """Verdicts on a claim as a whole; MIXED where it holds in some kinds of encoders and not in others."""

    HOLDS = "holds"
    SEEDS_AGREE = "seems to hold"
    OPPOSITE = "does not hold"
    SEEDS_AGREE_ON_OPPOSITE = "seems the opposite"
    MIXED = "mixed"
    NOT_CONFIRMED = "not confirmed"  # in some kinds no clear difference, in none as claimed
    TOO_FEW = "too few seeds"
    NOT_MEASURED = "not measured"


class OverallVerdict(NamedTuple):
    """The verdict on a claim, and in how many kinds of encoders the result is as claimed, opposite, unclear or undecided."""

    verdict: Overall
    n_as_claimed: int
    n_opposite: int
    n_unclear: int
    n_undecided: int  # too few seeds, or left out


_AS_CLAIMED = (ClaimOutcome.HOLDS, ClaimOutcome.AGREE)
_OPPOSITE = (ClaimOutcome.OPPOSITE, ClaimOutcome.AGREE_ON_OPPOSITE)


def overall_verdict(judgements: Sequence[Judgement]) -> OverallVerdict:
    """The verdict on which all kinds of encoders with enough seeds agree, else MIXED or NOT_CONFIRMED.

    HOLDS and OPPOSITE need at least one judgement with a significant test; without it the verdict is SEEDS_AGREE or
    SEEDS_AGREE_ON_OPPOSITE.
    """
    outcomes = [judgement.outcome for judgement in judgements]
    n_as_claimed = sum(outcome in _AS_CLAIMED for outcome in outcomes)
    n_opposite = sum(outcome in _OPPOSITE for outcome in outcomes)
    n_unclear = outcomes.count(ClaimOutcome.NO_CLEAR_DIFFERENCE)
    n_undecided = len(outcomes) - n_as_claimed - n_opposite - n_unclear
    if not outcomes:
        verdict = Overall.NOT_MEASURED
    elif n_undecided == len(outcomes):
        verdict = Overall.TOO_FEW
    elif n_as_claimed and (n_opposite or n_unclear):
        verdict = Overall.MIXED
    elif n_unclear:
        verdict = Overall.NOT_CONFIRMED
    elif n_as_claimed:
        verdict = Overall.HOLDS if ClaimOutcome.HOLDS in outcomes else Overall.SEEDS_AGREE
    else:
        is_tested = ClaimOutcome.OPPOSITE in outcomes
        verdict = Overall.OPPOSITE if is_tested else Overall.SEEDS_AGREE_ON_OPPOSITE
    return OverallVerdict(verdict, n_as_claimed, n_opposite, n_unclear, n_undecided)
