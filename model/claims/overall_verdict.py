"""One verdict on a claim from the verdicts in several kinds of encoders."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from .verdict import ClaimOutcome, Judgement


class Overall(Enum):
    """Verdicts on a claim as a whole; MIXED where it holds in some kinds of encoders and not in others."""

    HOLDS = "holds"
    SEEDS_AGREE = "seeds agree"
    OPPOSITE = "does not hold"
    SEEDS_AGREE_ON_OPPOSITE = "seeds say the opposite"
    MIXED = "mixed"
    NOWHERE = "nowhere as claimed"  # in some kinds the opposite, in others no clear difference
    NO_CLEAR_DIFFERENCE = "no clear difference"
    TOO_FEW = "too few seeds"
    NOT_MEASURED = "not measured"


class OverallVerdict(NamedTuple):
    """The verdict, and how many kinds of encoders it rests on."""

    verdict: Overall
    n_as_claimed: int
    n_opposite: int
    n_unclear: int
    n_undecided: int  # too few seeds, or left out


_AS_CLAIMED = (ClaimOutcome.HOLDS, ClaimOutcome.AGREE)
_OPPOSITE = (ClaimOutcome.OPPOSITE, ClaimOutcome.AGREE_ON_OPPOSITE)


def overall_verdict(judgements: Sequence[Judgement]) -> OverallVerdict:
    """The verdict on which all kinds of encoders with enough seeds agree, or MIXED, or NOWHERE.

    HOLDS and OPPOSITE need at least one that is beyond chance; without any test it is SEEDS_AGREE or the like.
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
    elif n_opposite and n_unclear:
        verdict = Overall.NOWHERE
    elif n_as_claimed:
        verdict = Overall.HOLDS if ClaimOutcome.HOLDS in outcomes else Overall.SEEDS_AGREE
    elif n_opposite:
        is_tested = ClaimOutcome.OPPOSITE in outcomes
        verdict = Overall.OPPOSITE if is_tested else Overall.SEEDS_AGREE_ON_OPPOSITE
    else:
        verdict = Overall.NO_CLEAR_DIFFERENCE
    return OverallVerdict(verdict, n_as_claimed, n_opposite, n_unclear, n_undecided)
