import math
import statistics
from pathlib import Path

import numpy as np
import pytest

from model.claims.catalogue import CLAIMS, effects_of_claim, seed_effect
from model.claims.verdict import CLAIMS_FILE as STORED
from model.claims.verdict import Beyond, ClaimOutcome, Judgement, Larger, read_measurements
from model.train.claims.untrained import SEEDS
from tests.model.claims.invented_measurements import invented, of_every_claim

ROOT = Path(__file__).parents[3]


def test_every_claim_has_a_name_of_its_own():
    assert len({claim.key for claim in CLAIMS}) == len({claim.says for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_a_claim_is_a_sentence_with_measurements(claim):
    assert claim.says.endswith(".")
    assert claim.measurements(of_every_claim())


def claim_of(key):
    return next(claim for claim in CLAIMS if claim.key == key)


def test_each_measurement_is_judged_by_its_own_numbers():
    longer, same = (
        invented((3.0, 3.1, 3.2), (1.0, 1.0, 1.0)),
        invented((1.0, 1.1, 0.9), (1.0, 1.0, 1.0), where="b"),
    )
    judgements = claim_of("stream").judgements([longer, same])
    assert [judgement.measured for judgement in judgements] == [longer, same]
    assert [judgement.outcome for judgement in judgements] == [
        ClaimOutcome.AGREE,
        ClaimOutcome.NO_CLEAR_DIFFERENCE,
    ]
    assert claim_of("stream").judgements([]) == []


def short_runs(where, with_warmup, without):
    """Of 16 seeds, by placement; the gain is their difference."""
    gains = tuple([one - other] * 16 for one, other in zip(with_warmup, without, strict=True))
    values = {
        "reached with warm-up": [[value] * 16 for value in with_warmup],
        "reached without warm-up": [[value] * 16 for value in without],
        "gain by warm-up": gains,
    }
    return [
        invented(tuple(pre), tuple(post), figure=figure, where=where, source="fresh")
        for figure, (pre, post) in values.items()
    ]


def outcomes(key, measured):
    return {judgement.measured.where: judgement.outcome for judgement in claim_of(key).judgements(measured)}


def test_a_placement_that_only_guesses_is_no_evidence_about_warm_up():
    """Post-LN guesses with warm-up and without: it cannot gain, and it is not warm-up that it lacks."""
    measured = [
        *short_runs("needs it", with_warmup=(0.6, 0.5), without=(0.6, 0.1)),
        *short_runs("guesses", with_warmup=(0.6, 0.1), without=(0.4, 0.1)),
        *short_runs("learns", with_warmup=(0.6, 0.5), without=(0.6, 0.5)),
        *short_runs("is harmed", with_warmup=(0.6, 0.1), without=(0.6, 0.5)),
    ]
    assert outcomes("warm_up", measured) == {
        "needs it": ClaimOutcome.HOLDS,
        "guesses": ClaimOutcome.LEFT_OUT,
        "learns": ClaimOutcome.OPPOSITE,
        "is harmed": ClaimOutcome.LEFT_OUT,
    }
    assert outcomes("warm_up_gain", measured) == {
        "needs it": ClaimOutcome.HOLDS,
        "guesses": ClaimOutcome.LEFT_OUT,
        "learns": ClaimOutcome.NO_CLEAR_DIFFERENCE,
        "is harmed": ClaimOutcome.OPPOSITE,
    }


def test_what_is_left_out_does_not_count_in_the_correction():
    runs = short_runs("a", with_warmup=(0.6, 0.5), without=(0.6, 0.1))
    floor = short_runs("b", with_warmup=(0.6, 0.1), without=(0.4, 0.1))
    (alone,) = claim_of("warm_up").judgements(runs)
    assert claim_of("warm_up").judgements([*runs, *floor])[0].p == alone.p == 2 / 2**16


def test_what_is_stored_of_untrained_encoders_has_seeds_enough_for_a_test():
    untrained = [
        measurement
        for measurement in read_measurements(ROOT / "checkpoints" / STORED)
        if measurement.source == "fresh" or measurement.where.endswith("untrained")
    ]
    assert len(untrained) == 17 + 3 * 4  # four figures of each kind of encoder
    assert {measurement.seeds for measurement in untrained} == {SEEDS}


def test_by_hand():
    # Standard deviations 1 and 2, so s = √(5/2); differences 4, 3, 2, of which the mean is 3.
    effect = seed_effect(invented((5.0, 6.0, 7.0), (1.0, 3.0, 5.0)), Larger("pre"))
    spread = math.sqrt(2.5)
    assert effect == pytest.approx((3 / spread, 2 / spread, 4 / spread))


def test_one_placement_minus_a_bound_by_hand():
    # In logarithms −1, 0, 1, whose deviation is 1; their mean minus log 1 is 0, where post-LN would be far from pre-LN.
    post = (math.exp(-1), 1.0, math.e)
    effect = seed_effect(invented((0.1, 0.2, 0.3), post), Beyond("post", 1.0), log=True)
    assert effect == pytest.approx((0, -1, 1))
    # Values 1, 3, 5 have the deviation 2; minus 4 they are −3, −1, 1.
    effect = seed_effect(invented((1.0, 3.0, 5.0), (9.0, 9.0, 9.0)), Beyond("pre", 4.0, above=False))
    assert effect == pytest.approx((-0.5, -1.5, 0.5))


@pytest.mark.parametrize("log", [False, True])
def test_as_computed_by_the_standard_library(log):
    random = np.random.default_rng(3)
    pre, post = (tuple(map(float, random.lognormal(mean, 0.3, 16))) for mean in (0.2, 1.0))
    effect = seed_effect(invented(pre, post), Larger("pre"), log=log)
    first, second = ([math.log(value) if log else value for value in values] for values in (pre, post))
    spread = math.sqrt((statistics.variance(first) + statistics.variance(second)) / 2)
    pairs = [(one - other) / spread for one, other in zip(first, second, strict=True)]
    assert effect == pytest.approx((statistics.fmean(pairs), min(pairs), max(pairs)))
    assert effect.mean == pytest.approx((statistics.fmean(first) - statistics.fmean(second)) / spread)


def test_placements_the_other_way_round_have_the_opposite_effect():
    pre, post = (5.0, 6.0, 7.0), (1.0, 3.0, 5.0)
    mean, least, largest = seed_effect(invented(pre, post), Larger("post"))
    assert seed_effect(invented(post, pre), Larger("post")) == pytest.approx((-mean, -largest, -least))


@pytest.mark.parametrize(
    ("measured", "log"),
    [
        (invented((3.0, 3.1), (1.0, 1.1)), False),
        (invented((3.0,) * 3, (1.0,) * 3), False),
        (invented((3.0, 3.0 + 1e-9, 3.0), (1.0,) * 3), False),
        (invented((0.1,) * 3, (0.2,) * 3, across=(0.3,) * 9), False),
        (invented((3.0, 3.1, 3.2), (1.0, 0.0, 1.0)), True),
    ],
    ids=["two seeds", "no spread", "rounding", "distances", "logarithm of 0"],
)
def test_no_effect_where_none_can_be_known(measured, log):
    assert seed_effect(measured, Larger("pre"), log=log) is None


def test_what_a_claim_leaves_out_has_no_effect():
    claim = next(claim for claim in CLAIMS if claim.key == "warm_up")
    measured = invented((3.0, 3.1, 3.2), (1.0, 1.1, 1.2))
    judgements = [
        Judgement(measured, outcome) for outcome in (ClaimOutcome.LEFT_OUT, ClaimOutcome.NO_CLEAR_DIFFERENCE)
    ]
    (effect,) = effects_of_claim(claim, judgements)
    assert effect.judgement is judgements[1]
