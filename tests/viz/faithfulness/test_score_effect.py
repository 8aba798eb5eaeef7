import csv
import io
import math

import numpy as np
import pytest
from scipy import stats

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, EMPHASIS
from viz.export.figure_csv import csv as as_csv
from viz.faithfulness.score_effect import score_effect

TOKENS = ("film", "great", "not", "[SEP]")
SCORES, EFFECTS = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.0, 2.0, 1.0, 3.0])
WHAT = "change of the log-odds of positive (nats)"


def figure(selected: int | None = 2):
    look = {"kind": "from every query", "effect": WHAT, "selected": selected}
    return score_effect((1, 2, 3, 5), TOKENS, SCORES, EFFECTS, **look)


def test_a_point_a_token_and_the_chosen_one_is_marked():
    names, points = drawn(figure(), width=400)
    assert [point["description"] for point in points] == list(TOKENS)
    assert [point["fill"] for point in points] == [EMPHASIS, ACCENT, EMPHASIS, EMPHASIS]
    ordered = sorted(points, key=lambda point: point["x"])
    assert [point["description"] for point in ordered] == ["film", "[SEP]", "not", "great"]
    higher = sorted(points, key=lambda point: -point["y"])
    assert [point["description"] for point in higher] == ["film", "not", "great", "[SEP]"]
    assert {name["text"] for name in names} == {"great", "not", "[SEP]"}


def test_without_a_chosen_one_none_is_marked():
    _, points = drawn(figure(None), width=400)
    assert {point["fill"] for point in points} == {EMPHASIS}


def test_of_many_only_the_largest_are_named_and_no_two_on_each_other():
    scores, effects = np.zeros(40), np.zeros(40)
    scores[[3, 5, 7, 9]] = 1.0, 0.99, 0.5, 0.2
    effects[[3, 5, 11, 13]] = 0.4, 0.41, 1.0, 0.7
    look = {"kind": "k", "effect": "e", "selected": 30}
    names, points = drawn(
        score_effect(range(40), [f"t{at}" for at in range(40)], scores, effects, **look), width=600
    )
    assert {name["text"] for name in names} == {"t30", "t3", "t7", "t11", "t13"}
    assert max(point["x"] for point in points) < 0.9 * 600


def test_numbers_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="expected shape"):
        score_effect((1, 2), TOKENS, SCORES, EFFECTS, kind="k", effect="e", selected=None)


def test_spearman_follows_from_the_exported_table_alone():
    """With nothing but Python's own library: ranks, ties at their mean, and the correlation of those."""
    rng = np.random.default_rng(1)
    scores, effects = rng.integers(0, 9, 30) / 7, rng.random(30)
    look = {"kind": "k", "effect": "e", "selected": None}
    exported = as_csv(score_effect(range(30), ['a,"b'] * 30, scores, effects, **look)).decode()
    rows = list(csv.DictReader(io.StringIO(exported)))

    def ranks(column: str) -> list[float]:
        values = [float(row[column]) for row in rows]
        return [sum(other < each for other in values) + values.count(each) / 2 for each in values]

    one, other = ranks("score"), ranks("effect")
    middle = sum(one) / len(one)
    parts = zip(one, other, strict=True)
    covariance = sum((a - middle) * (b - middle) for a, b in parts)
    sizes = [math.sqrt(sum((each - middle) ** 2 for each in side)) for side in (one, other)]
    assert covariance / math.prod(sizes) == pytest.approx(stats.spearmanr(scores, effects).statistic)
