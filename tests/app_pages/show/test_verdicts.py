from app_pages.show.verdicts import verdict_lines
from model.claims.verdict import FurtherThanSeeds, Larger, judge
from tests.model.claims.invented_measurements import invented

AGREE, UNCLEAR = (3.0, 3.1, 3.2), (3.0, 0.5, 3.2)


def lines(rule, *measured) -> list[str]:
    return verdict_lines(judge(rule, measured), rule).split("\n\n")


def test_measurements_of_one_outcome_stand_together():
    of = {
        name: invented(pre, (1.0,) * 3, where=name)
        for name, pre in zip("abc", (AGREE, UNCLEAR, AGREE), strict=True)
    }
    first, second = lines(Larger("pre"), *of.values())
    assert first.endswith("**All 3 seeds agree**: a (3 of 3 pairs); c (3 of 3 pairs)")
    assert second.endswith("**No clear difference in 3 seeds**: b (2 of 3 pairs)")


def test_distances_are_no_pairs():
    (line,) = lines(FurtherThanSeeds(), invented((0.1,) * 3, (0.2,) * 3, across=(0.3,) * 9))
    assert line.endswith("**All 3 seeds agree**: encoders")
