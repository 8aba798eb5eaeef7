from pathlib import Path

import pytest

from model.claims.catalogue import CLAIMS
from model.claims.verdict import CLAIMS_FILE as STORED
from model.claims.verdict import ClaimOutcome, read_measurements
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
