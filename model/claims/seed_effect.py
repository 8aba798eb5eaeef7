"""How far the two norm placements are apart, or one from a bound, in units of how far seeds of one placement are apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .catalogue import Claim
from .measurements import Measurement
from .verdict import FEWEST_SEEDS, Beyond, ClaimOutcome, Judgement, Rule

ROUNDING = 1e-6  # a spread below this share of the largest value is rounding: nothing can be measured in it


class SeedEffect(NamedTuple):
    """Mean of the differences over the seeds, the least and the largest of them, all in units of the spread of seeds."""

    mean: float
    least: float
    largest: float


def seed_effect(measured: Measurement, rule: Rule, *, log: bool = False) -> SeedEffect | None:
    """The effect (pre − post) / s of a measurement, positive where pre-LN has the larger values.

    s = √((s_pre² + s_post²) / 2), where s_pre and s_post are the standard deviations (n − 1) over the seeds of one
    placement. By a rule `Beyond`, which compares one placement with a bound, it is (value − bound) / s with that placement's
    own s. With `log`, all of it is computed on natural logarithms. None with fewer than `FEWEST_SEEDS` seeds, for distances
    between encoders, where s is zero, and where a logarithm does not exist.
    """
    if len(measured.seeds) < FEWEST_SEEDS or measured.across is not None:
        return None
    first, second = measured.pre, measured.post
    if isinstance(rule, Beyond):
        first = measured.pre if rule.placement == "pre" else measured.post
        second = (rule.than,) * len(first)
    compared = np.array([first, second], float)
    if log:
        if compared.min() <= 0:
            return None
        compared = np.log(compared)
    variances = compared.var(axis=1, ddof=1)  # that of a bound is 0
    spread = float(np.sqrt(variances.sum() if isinstance(rule, Beyond) else variances.mean()))
    if spread <= ROUNDING * max(float(np.abs(compared).max()), ROUNDING):
        return None
    in_spreads = (compared[0] - compared[1]) / spread
    return SeedEffect(float(in_spreads.mean()), float(in_spreads.min()), float(in_spreads.max()))


@dataclass(frozen=True, slots=True)
class EncoderEffect:
    """Effect in the encoders of one judgement."""

    judgement: Judgement
    effect: SeedEffect


def effects_of_claim(claim: Claim, judgements: Sequence[Judgement]) -> list[EncoderEffect]:
    """Effects of the claim's `judgements`, in their order, without judgements that are left out or have no `seed_effect`."""
    effects = (
        (judgement, seed_effect(judgement.measured, claim.rule, log=claim.log))
        for judgement in judgements
        if judgement.outcome is not ClaimOutcome.LEFT_OUT
    )
    return [EncoderEffect(judgement, effect) for judgement, effect in effects if effect is not None]
