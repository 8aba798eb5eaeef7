import math

import numpy as np
import pytest

from viz.inside.dot_product_distribution import dot_product_distribution

PRODUCTS = np.random.default_rng(0).normal(size=(20, 30)) * 2


def drawn_of(products=PRODUCTS, variance=4.0, reach=8.0):
    return dot_product_distribution(products, variance=variance, reach=reach, name="q·k", expected="a normal")


def rows(figure):
    return figure.frame.to_dict("records")


def test_bars_hold_the_shares_of_all_products():
    bars = rows(drawn_of())
    assert sum(bar["share"] for bar in bars) == pytest.approx(1)
    for bar in bars:
        assert bar["density"] * (bar["to"] - bar["from"]) == pytest.approx(bar["share"])
    assert (bars[0]["from"], bars[-1]["to"]) == (-8, 8)


def test_what_lies_beyond_the_reach_counts_in_the_share():
    bars = rows(drawn_of(np.array([0.0, 0.0, 0.0, 100.0])))
    assert sum(bar["share"] for bar in bars) == 0.75


def test_the_line_is_the_normal_density_of_that_variance():
    line = rows(drawn_of())
    middle = min(line, key=lambda point: abs(point["middle"]))
    assert middle["normal"] == pytest.approx(1 / (2 * math.sqrt(2 * math.pi)), rel=1e-3)
    one_deviation = min(line, key=lambda point: abs(point["middle"] - 2))
    assert one_deviation["normal"] == pytest.approx(middle["normal"] * math.exp(-0.5), rel=0.02)
    assert all(abs(point["middle"]) <= 8 for point in line)


def test_bars_and_line_agree_where_everything_lies_in_one_bin():
    chart = drawn_of(np.random.default_rng(0).normal(size=1000) * 1e-3, variance=1e-6)
    highest = [max(row[field] for row in rows(chart)) for field in ("density", "normal")]
    assert highest[1] == pytest.approx(highest[0])


def test_no_products_make_an_empty_histogram_with_its_axes():
    chart = drawn_of(np.zeros(0))
    assert not any(bar["share"] for bar in rows(chart))
    assert chart.specification["layer"][0]["encoding"]["x"]["title"] == "q·k"


@pytest.mark.parametrize(("variance", "reach"), [(0.0, 8.0), (4.0, 0.0), (math.nan, 8.0)])
def test_variance_and_reach_are_above_zero(variance, reach):
    with pytest.raises(ValueError, match="above 0"):
        drawn_of(variance=variance, reach=reach)
