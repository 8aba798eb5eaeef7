"""How far the two norm placements are apart, in units of how far seeds of one placement are apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .catalogue import Claim
from .measurements import Measurement
from .verdict import FEWEST_SEEDS, ClaimOutcome, Judgement

ROUNDING = 1e-6  # a spread below this share of the largest value is rounding: nothing can be measured in it


class SeedEffect(NamedTuple):
    """Mean of pre − post over pairs of one seed, its least and its largest pair, all in units of the spread of seeds."""

    mean: float
    least: float
    largest: float


def seed_effect(measured: Measurement, *, log: bool = False) -> SeedEffect | None:
    """The effect (pre − post) / s of a measurement, positive where pre-LN has the larger values.

    s = √((s_pre² + s_post²) / 2), where s_pre and s_post are the standard deviations (n − 1) over the seeds of one
    placement. With `log`, all of it is computed on natural logarithms. None with fewer than `FEWEST_SEEDS` seeds, for
    distances between encoders, where s is zero, and where a logarithm does not exist.
    """
    if len(measured.seeds) < FEWEST_SEEDS or measured.across is not None:
        return None
    pre, post = (np.asarray(values, float) for values in (measured.pre, measured.post))
    if log:
        if min(pre.min(), post.min()) <= 0:
            return None
        pre, post = np.log(pre), np.log(post)
    spread = float(np.sqrt((pre.var(ddof=1) + post.var(ddof=1)) / 2))
    if spread <= ROUNDING * max(float(np.abs((pre, post)).max()), ROUNDING):
        return None
    in_spreads = (pre - post) / spread
    return SeedEffect(float(in_spreads.mean()), float(in_spreads.min()), float(in_spreads.max()))


@dataclass(frozen=True, slots=True)
class EncoderEffect:
    """Effect in the encoders of one judgement."""

    judgement: Judgement
    effect: SeedEffect


def effects_of_claim(claim: Claim, judgements: Sequence[Judgement]) -> list[EncoderEffect]:
    """Effects of the claim's `judgements`, in their order, without judgements that are left out or have no `seed_effect`."""
    effects = (
        (judgement, seed_effect(judgement.measured, log=claim.log))
        for judgement in judgements
        if judgement.outcome is not ClaimOutcome.LEFT_OUT
    )
    return [EncoderEffect(judgement, effect) for judgement, effect in effects if effect is not None]
