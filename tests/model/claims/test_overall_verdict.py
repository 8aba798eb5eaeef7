import pytest

from model.claims.overall_verdict import Overall, overall_verdict
from model.claims.verdict import ClaimOutcome, Judgement
from tests.model.claims.invented_measurements import invented

MEASURED = invented((1.0,), (2.0,))


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], Overall.NOT_MEASURED),
        (["TOO_FEW", "LEFT_OUT"], Overall.TOO_FEW),
        (["HOLDS", "AGREE", "TOO_FEW"], Overall.HOLDS),
        (["AGREE", "TOO_FEW"], Overall.SEEDS_AGREE),
        (["OPPOSITE", "AGREE_ON_OPPOSITE"], Overall.OPPOSITE),
        (["AGREE_ON_OPPOSITE"], Overall.SEEDS_AGREE_ON_OPPOSITE),
        (["NO_CLEAR_DIFFERENCE", "LEFT_OUT"], Overall.NO_CLEAR_DIFFERENCE),
        (["HOLDS", "OPPOSITE", "HOLDS"], Overall.MIXED),
        (["HOLDS", "NO_CLEAR_DIFFERENCE"], Overall.MIXED),
        (["OPPOSITE", "NO_CLEAR_DIFFERENCE"], Overall.NOWHERE),
    ],
)
def test_one_verdict_from_several_encoders(outcomes, expected) -> None:
    overall = overall_verdict([Judgement(MEASURED, ClaimOutcome[outcome]) for outcome in outcomes])
    assert overall.verdict is expected
    assert sum(overall[1:]) == len(outcomes)
