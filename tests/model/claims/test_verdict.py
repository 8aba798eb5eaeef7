import json

import numpy as np
import pytest
from scipy import stats

from model.claims.verdict import (
    COMMAND,
    FEWEST_TESTED,
    SIGNIFICANT,
    Beyond,
    ClaimOutcome,
    FurtherThanSeeds,
    Judgement,
    Larger,
    Overall,
    chance_of_separation,
    judge,
    overall_verdict,
    read_measurements,
    sign_flip_p,
    write_measurements,
)
from tests.model.claims.invented_measurements import invented, of_every_claim

LOW, HIGH, WIDE = (1.0, 1.1, 1.2), (2.0, 2.1, 2.2), (0.9, 2.0, 3.3)
ZEROS = (0.0,) * 16
CLEAR = tuple(1.0 + seed / 100 for seed in range(16))
MEASURED = invented((1.0,), (2.0,))


def outcome(rule, measured):
    (judgement,) = judge(rule, [measured])
    return judgement.outcome


# Enough seeds for a test


@pytest.mark.parametrize("seed", range(5))
def test_p_is_that_of_the_exact_permutation_test(seed):
    differences = np.random.default_rng(seed).normal(0.5, 1, 10)
    reference = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_p(differences.tolist()) == pytest.approx(reference.pvalue, abs=1e-12)


@pytest.mark.parametrize(("n", "p"), [(3, 2 / 8), (5, 2 / 32), (6, 2 / 64), (16, 2 / 65536)])
def test_the_least_p_is_that_of_signs_that_all_agree(n, p):
    assert sign_flip_p([0.1] * n) == sign_flip_p([-0.1] * n) == p
    assert (p < SIGNIFICANT) == (n >= FEWEST_TESTED)


def test_no_difference_has_p_1():
    assert sign_flip_p([0.0] * 8) == 1


@pytest.mark.parametrize(
    ("pre", "post", "expected", "n_as_claimed"),
    [
        (CLEAR, ZEROS, ClaimOutcome.HOLDS, 16),
        (ZEROS, CLEAR, ClaimOutcome.OPPOSITE, 0),
        ((1.0, -1.0) * 8, ZEROS, ClaimOutcome.NO_CLEAR_DIFFERENCE, 8),
        ((1.0,) * 14 + (-0.5,) * 2, ZEROS, ClaimOutcome.HOLDS, 14),
    ],
)
def test_a_difference_beyond_chance_is_shown_and_no_other(pre, post, expected, n_as_claimed):
    (judgement,) = judge(Larger("pre"), [invented(pre, post)])
    assert (judgement.outcome, judgement.n_as_claimed) == (expected, n_as_claimed)
    assert (judgement.p < SIGNIFICANT) == (expected is not ClaimOutcome.NO_CLEAR_DIFFERENCE)


def test_a_difference_that_chance_makes_is_never_the_opposite():
    """The sixteen pairs of which seven are as claimed say nothing against the claim."""
    pairs = (1.0,) * 7 + (-1.0,) * 9
    assert outcome(Larger("pre"), invented(pairs, ZEROS)) is ClaimOutcome.NO_CLEAR_DIFFERENCE


def test_p_is_corrected_for_the_measurements_of_one_claim():
    borderline = invented((1.0,) * 6, (0.0,) * 6)
    assert outcome(Larger("pre"), borderline) is ClaimOutcome.HOLDS
    none, few = invented((0.0,) * 6, (0.0,) * 6), invented(HIGH, LOW)
    judgements = judge(Larger("pre"), [borderline, few, none])
    assert [judgement.outcome for judgement in judgements] == [
        ClaimOutcome.NO_CLEAR_DIFFERENCE,
        ClaimOutcome.AGREE,
        ClaimOutcome.NO_CLEAR_DIFFERENCE,
    ]
    assert judgements[0].p == 2 * 2 / 64


def test_one_placement_is_tested_against_a_value():
    judgements = judge(Beyond("post", 0.3, above=False), [invented(CLEAR, (0.1, 0.2) * 8)])
    assert (judgements[0].outcome, judgements[0].n_as_claimed) == (ClaimOutcome.HOLDS, 16)
    assert outcome(Beyond("post", 0.3), invented(CLEAR, (0.1, 0.2) * 8)) is ClaimOutcome.OPPOSITE


# Too few seeds for a test


@pytest.mark.parametrize(
    ("pre", "post", "expected"),
    [
        (HIGH, LOW, ClaimOutcome.AGREE),
        (LOW, HIGH, ClaimOutcome.AGREE_ON_OPPOSITE),
        (WIDE, LOW, ClaimOutcome.NO_CLEAR_DIFFERENCE),  # one pair says otherwise
        (
            (1.0, 2.0, 3.0),
            (0.9, 1.9, 2.9),
            ClaimOutcome.NO_CLEAR_DIFFERENCE,
        ),  # all pairs agree, but seeds differ by more
        (LOW, LOW, ClaimOutcome.NO_CLEAR_DIFFERENCE),
        (HIGH[:2], LOW[:2], ClaimOutcome.TOO_FEW),
    ],
)
def test_three_seeds_agree_or_show_nothing(pre, post, expected):
    assert outcome(Larger("pre"), invented(pre, post)) is expected
    mirrored = {
        ClaimOutcome.AGREE: ClaimOutcome.AGREE_ON_OPPOSITE,
        ClaimOutcome.AGREE_ON_OPPOSITE: ClaimOutcome.AGREE,
    }
    assert outcome(Larger("post"), invented(pre, post)) is mirrored.get(expected, expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Beyond("post", 1.0), ClaimOutcome.AGREE),
        (Beyond("post", 1.0, above=False), ClaimOutcome.AGREE_ON_OPPOSITE),
        (Beyond("post", 3.0, above=False), ClaimOutcome.AGREE),
        (Beyond("post", 2.15), ClaimOutcome.NO_CLEAR_DIFFERENCE),  # between the seeds
        (Beyond("pre", 1.0), ClaimOutcome.NO_CLEAR_DIFFERENCE),  # one seed is on the value itself
    ],
)
def test_beyond_looks_at_one_placement(rule, expected):
    assert outcome(rule, invented(LOW, HIGH)) is expected


@pytest.mark.parametrize(
    ("across", "expected"),
    [
        ((0.4,) * 9, ClaimOutcome.AGREE),
        ((0.4,) * 8 + (0.29,), ClaimOutcome.NO_CLEAR_DIFFERENCE),
        ((0.05,) * 9, ClaimOutcome.AGREE_ON_OPPOSITE),
    ],
)
def test_further_than_any_two_seeds(across, expected):
    measured = invented((0.1, 0.2, 0.1), (0.3, 0.2, 0.1), across=across)
    assert outcome(FurtherThanSeeds(), measured) is expected


def test_two_seeds_have_one_distance_and_no_verdict():
    measured = invented((0.1,), (0.1,), across=(0.5,) * 4, seeds=(0, 1))
    assert outcome(FurtherThanSeeds(), measured) is ClaimOutcome.TOO_FEW


def test_chance_is_counted_by_hand():
    """Of the 20 ways to draw three out of six, two put them all on one side."""
    assert chance_of_separation(3) == 0.1
    assert chance_of_separation(1) == 1


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Overall.NOT_MEASURED),
        (["TOO_FEW", "LEFT_OUT"], Overall.TOO_FEW),
        (["HOLDS", "AGREE", "TOO_FEW"], Overall.HOLDS),
        (["AGREE", "TOO_FEW"], Overall.SEEDS_AGREE),
        (["OPPOSITE", "AGREE_ON_OPPOSITE"], Overall.OPPOSITE),
        (["AGREE_ON_OPPOSITE"], Overall.SEEDS_AGREE_ON_OPPOSITE),
        (["NO_CLEAR_DIFFERENCE", "LEFT_OUT"], Overall.NOT_CONFIRMED),
        (["HOLDS", "OPPOSITE", "HOLDS"], Overall.MIXED),
        (["HOLDS", "NO_CLEAR_DIFFERENCE"], Overall.MIXED),
        (["OPPOSITE", "NO_CLEAR_DIFFERENCE"], Overall.NOT_CONFIRMED),
    ],
)
def test_one_verdict_from_several_encoders(outcomes, expected):
    overall = overall_verdict([Judgement(MEASURED, ClaimOutcome[outcome]) for outcome in outcomes])
    assert overall.verdict is expected
    assert sum(overall[1:]) == len(outcomes)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "claims.json"
    write_measurements(path, of_every_claim())
    assert read_measurements(path) == of_every_claim()
    assert json.loads(path.read_text())["command"] == COMMAND
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_is_nothing_measured(tmp_path):
    assert read_measurements(tmp_path / "claims.json") == []


@pytest.mark.parametrize(
    ("pre", "across"), [((1.0,), None), ((1.0, 2.0, float("nan")), None), ((1.0, 2.0, 3.0), (1.0,) * 8)]
)
def test_values_that_do_not_fit_are_refused(pre, across):
    with pytest.raises(ValueError, match="stream growth, encoders"):
        invented(pre, (1.0, 2.0, 3.0), across=across, seeds=(0, 1, 2))


def row(**changes):
    return json.loads(json.dumps({"figure": "a", "source": "fresh", "where": "b", "n": 3, "of": "c"})) | {
        "seeds": [0, 1],
        "pre": [1, 2.5],
        "post": [1, 2],
        **changes,
    }


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        json.dumps({"command": "c"}),
        json.dumps({"command": "c", "measured": [row(pre=[1])]}),
        json.dumps({"command": "c", "measured": [row(pre=["1", 2])]}),
        json.dumps({"command": "c", "measured": [row(source="guessed")]}),
        json.dumps({"command": "c", "measured": [row(seeds=[])]}),
        json.dumps({"command": "c", "measured": [row(verdict="holds")]}),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "claims.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"claims\.json cannot be read: ."):
        read_measurements(path)


def test_whole_numbers_are_numbers(tmp_path):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"command": "c", "measured": [row()]}))
    assert read_measurements(path)[0].pre == (1.0, 2.5)
