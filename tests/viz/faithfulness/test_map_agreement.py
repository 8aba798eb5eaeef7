import csv
import io
import math

import numpy as np
import pytest
from scipy import stats

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT, EMPHASIS, NEUTRAL
from viz.export.save import csv as as_csv
from viz.faithfulness.map_agreement import removal_curve, score_effect

CURVE = np.array([0.9, 0.4, 0.2])
ORDERS = np.array([[0.9, 0.8, 0.2], [0.9, 0.6, 0.2]])
SAID = {"what": "fall of the log-odds of positive, nats", "removed_things": "tokens", "reading": "area 0.47"}


def test_the_map_beside_the_mean_of_random_orders():
    figure = removal_curve("deletion", (0, 2, 4), CURVE, ORDERS, **SAID)
    frame = figure.frame
    np.testing.assert_allclose(frame["share"], [0, 0.5, 1])
    np.testing.assert_allclose(frame["map"], CURVE)
    np.testing.assert_allclose(frame["random"], [0.9, 0.7, 0.2])
    reach = 2 * np.std([0.8, 0.6], ddof=1)
    np.testing.assert_allclose(frame["low"], [0.9, 0.7 - reach, 0.2])
    np.testing.assert_allclose(frame["high"], [0.9, 0.7 + reach, 0.2])
    band, mean_points, own_points = drawn(figure, width=400)
    assert {point["fill"] for point in mean_points} == {NEUTRAL}
    assert {point["fill"] for point in own_points} == {EMPHASIS}
    assert [point["x"] for point in own_points] == pytest.approx(
        [0, own_points[-1]["x"] / 2, own_points[-1]["x"]]
    )
    assert own_points[1]["y"] > mean_points[1]["y"]
    assert len(band) == 3


def test_the_axis_holds_the_map_and_the_whole_band():
    wild = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    figure = removal_curve("insertion", (0, 1, 2), CURVE, wild, **SAID)
    values = {parameter["name"]: parameter["value"] for parameter in figure.specification["params"]}
    assert values["lowest"] == figure.frame["low"].min() < 0
    assert values["highest"] == figure.frame["high"].max() > 1
    nothing = removal_curve("deletion", (0, 1, 2), np.zeros(3), np.zeros((2, 3)), **SAID)
    values = {parameter["name"]: parameter["value"] for parameter in nothing.specification["params"]}
    assert (values["lowest"], values["highest"]) == (0, 1)


TOKENS = ("film", "great", "not", "[SEP]")
SCORES, EFFECTS = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.0, 2.0, 1.0, 3.0])
WHAT = "change of the log-odds of positive (nats)"


def figure(selected: int | None = 2):
    options = {"kind": "from every query", "effect": WHAT, "selected": selected}
    return score_effect((1, 2, 3, 5), TOKENS, SCORES, EFFECTS, **options)


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
    options = {"kind": "k", "effect": "e", "selected": 30}
    names, points = drawn(
        score_effect(range(40), [f"t{index}" for index in range(40)], scores, effects, **options), width=600
    )
    assert {name["text"] for name in names} == {"t30", "t3", "t7", "t11", "t13"}
    assert max(point["x"] for point in points) < 0.9 * 600


def test_spearman_follows_from_the_exported_table_alone():
    """With nothing but Python's own library: ranks, ties at their mean, and the correlation of those."""
    rng = np.random.default_rng(1)
    scores, effects = rng.integers(0, 9, 30) / 7, rng.random(30)
    options = {"kind": "k", "effect": "e", "selected": None}
    exported = as_csv(score_effect(range(30), ['a,"b'] * 30, scores, effects, **options)).decode()
    rows = list(csv.DictReader(io.StringIO(exported)))

    def ranks(column: str) -> list[float]:
        values = [float(row[column]) for row in rows]
        return [sum(other < value for other in values) + values.count(value) / 2 for value in values]

    one, other = ranks("score"), ranks("effect")
    middle = sum(one) / len(one)
    parts = zip(one, other, strict=True)
    covariance = sum((a - middle) * (b - middle) for a, b in parts)
    sizes = [math.sqrt(sum((number - middle) ** 2 for number in side)) for side in (one, other)]
    assert covariance / math.prod(sizes) == pytest.approx(stats.spearmanr(scores, effects).statistic)
