import pytest

from model.theory.claims.verdict import (
    Beyond,
    FurtherThanSeeds,
    Larger,
    Outcome,
    apart,
    by_chance,
    spread,
    together,
)
from tests.model.theory.claims.invented import invented

LOW, HIGH, WIDE = (1.0, 1.1, 1.2), (2.0, 2.1, 2.2), (0.9, 2.0, 3.3)


@pytest.mark.parametrize(
    ("pre", "post", "outcome"),
    [
        (HIGH, LOW, Outcome.HOLDS),
        (LOW, HIGH, Outcome.OPPOSITE),
        (WIDE, LOW, Outcome.NOT_SEEN),  # one pair says otherwise
        ((1.0, 2.0, 3.0), (0.9, 1.9, 2.9), Outcome.NOT_SEEN),  # all pairs agree, but seeds differ by more
        (LOW, LOW, Outcome.NOT_SEEN),
        (HIGH[:2], LOW[:2], Outcome.TOO_FEW),
    ],
)
def test_larger_under_pre_ln(pre, post, outcome):
    assert Larger("pre").outcome(invented(pre, post)) is outcome


def test_larger_under_post_ln_is_the_other_way_round():
    assert Larger("post").outcome(invented(LOW, HIGH)) is Outcome.HOLDS
    assert Larger("post").outcome(invented(HIGH, LOW)) is Outcome.OPPOSITE


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        (Beyond("post", 1.0), Outcome.HOLDS),
        (Beyond("post", 1.0, above=False), Outcome.OPPOSITE),
        (Beyond("post", 3.0), Outcome.OPPOSITE),
        (Beyond("post", 3.0, above=False), Outcome.HOLDS),
        (Beyond("post", 2.15), Outcome.NOT_SEEN),  # between the seeds
        (Beyond("post", 1.99), Outcome.NOT_SEEN),  # below all of them, by less than they differ
        (Beyond("pre", 1.0), Outcome.NOT_SEEN),
    ],
)
def test_beyond_looks_at_one_placement(rule, outcome):
    assert rule.outcome(invented(LOW, HIGH)) is outcome


def test_beyond_needs_seeds():
    assert Beyond("post", 1.0).outcome(invented(LOW[:2], HIGH[:2])) is Outcome.TOO_FEW


@pytest.mark.parametrize(
    ("across", "outcome"),
    [
        ((0.4,) * 9, Outcome.HOLDS),
        ((0.4,) * 8 + (0.29,), Outcome.NOT_SEEN),
        ((0.05,) * 9, Outcome.OPPOSITE),
    ],
)
def test_further_than_any_two_seeds(across, outcome):
    measured = invented((0.1, 0.2, 0.1), (0.3, 0.2, 0.1), across=across)
    assert FurtherThanSeeds().outcome(measured) is outcome


def test_two_seeds_have_one_distance_and_no_verdict():
    measured = invented((0.1,), (0.1,), across=(0.5,) * 4, seeds=(0, 1))
    assert FurtherThanSeeds().outcome(measured) is Outcome.TOO_FEW


def test_apart_and_spread():
    assert apart(invented(LOW, (2.0, 2.1, 2.5))) == pytest.approx(1.1)
    assert spread(invented(LOW, (2.0, 2.1, 2.5))) == pytest.approx(0.5)
    assert spread(invented((1.0,), (2.0,))) is None
    distances = invented((0.1, 0.2, 0.1), (0.3, 0.2, 0.1), across=(0.4,) * 9)
    assert (apart(distances), spread(distances)) == pytest.approx((0.4, 0.3))


def test_chance_is_counted_by_hand():
    """Of the 20 ways to draw three out of six, two put them all on one side."""
    assert by_chance(3) == 0.1
    assert by_chance(1) == 1


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ({"a": Outcome.HOLDS, "b": Outcome.HOLDS}, "holds here"),
        ({"a": Outcome.HOLDS, "b": Outcome.TOO_FEW}, "holds here"),
        ({"a": Outcome.TOO_FEW}, "cannot be told from so few seeds"),
        ({"a": Outcome.OPPOSITE}, "does not hold here: the opposite is true"),
        ({"a": Outcome.OPPOSITE, "b": Outcome.NOT_SEEN}, "does not hold here"),
        (
            {"a": Outcome.OPPOSITE, "b": Outcome.HOLDS, "c": Outcome.HOLDS},
            "depends on the rate (holds: b, c; the opposite: a)",
        ),
        (
            {"a": Outcome.NOT_SEEN, "b": Outcome.HOLDS},
            "depends on the rate (holds: b; no difference beyond chance: a)",
        ),
    ],
)
def test_several_measurements_together(outcomes, verdict):
    assert together(outcomes.items(), "the rate") == verdict
