import math

import numpy as np
import pandas as pd
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.inside.scale_figures import (
    dot_product_distribution,
    scale_name,
    variance_of_heads,
    width_curves,
    with_and_without_scale,
)

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


def test_no_products_make_an_empty_histogram():
    assert not any(bar["share"] for bar in rows(drawn_of(np.zeros(0))))


HEADS = pd.DataFrame(
    {
        "layer": [0, 0, 1, 1],
        "head": [0, 1, 0, 1],
        "mean": [0.0, 1.0, 2.0, 3.0],
        "variance": [10.0, 20.0, 40.0, 80.0],
        "entropy": [0.9, 0.8, 0.7, 0.6],
        "entropy_unscaled": [0.4, 0.3, 0.2, 0.6],
    }
)


def compared(heads=HEADS):
    return with_and_without_scale(
        heads, "entropy", title="Entropy", reading="", axis="entropy", selected=(1, 0)
    )


def variance(heads=HEADS):
    return variance_of_heads(heads, d_k=32, selected=(1, 0))


def points(chart) -> dict[str, dict]:
    marks = [item for items in drawn(chart, width=400) for item in items if "size" in item]
    return {mark["description"]: mark for mark in marks}


@pytest.mark.parametrize("chart", [variance, compared])
def test_every_head_is_a_point_and_the_chosen_one_stands_out(chart):
    shown = points(chart())
    assert set(shown) == {"L0 H0", "L0 H1", "L1 H0", "L1 H1"}
    assert [name for name, point in shown.items() if point["fill"] == ACCENT] == ["L1 H0"]
    assert shown["L1 H0"]["size"] > shown["L0 H0"]["size"]


def test_the_line_is_at_d_k():
    rule, _ = drawn(variance(), width=400)
    shown = points(variance())
    assert shown["L1 H0"]["y"] < rule[0]["y"] < shown["L0 H1"]["y"]  # 32 is between 20 and 40


def test_a_head_without_variance_has_no_point():
    assert set(points(variance(HEADS.assign(variance=[0.0, 0.0, 40.0, 0.0])))) == {"L1 H0"}
    assert not points(variance(HEADS.assign(variance=0.0)))


def test_no_heads_make_empty_charts():
    assert not points(compared(HEADS[:0]))
    assert not points(variance(HEADS[:0]))


MEASURED = pd.DataFrame(
    {
        "d_k": d_k,
        "power": power,
        "variance": 1.1 * d_k ** (1 - 2 * power),
        "entropy": 0.5 + 0.1 * power,
        "gradient": 0.1,
        "gradient_low": 0.05,
        "gradient_high": 0.2,
    }
    for d_k in (1, 8, 64)
    for power in (0.0, 0.5)
)


@pytest.mark.parametrize(
    ("power", "name"), [(0.0, "1"), (0.5, "1/√d_k"), (1.0, "1/d_k"), (0.25, "d_k^−0.25")]
)
def test_a_scale_is_named_as_it_is_written(power, name):
    assert scale_name(power) == name


def test_each_scale_has_a_colour_of_its_own():
    powers = pd.concat([MEASURED.assign(power=power) for power in (0.0, 0.25, 0.5, 1.0)])
    (layer, *_) = width_curves(powers, "entropy", d_k=8, power=0.5).specification["layer"]
    scale = layer["encoding"]["color"]["scale"]
    assert scale["domain"] == ["1", "d_k^−0.25", "1/√d_k", "1/d_k"]
    assert len(set(scale["range"])) == 4


@pytest.mark.parametrize("measure", ["variance", "entropy", "gradient"])
def test_the_chosen_width_is_marked_and_the_chosen_scale_stands_out(measure):
    layers = drawn(width_curves(MEASURED, measure, d_k=8, power=0.5), width=400)
    rules = [item for items in layers for item in items if item.get("stroke") == ACCENT]
    assert len(rules) == 1
    opacities = {item.get("opacity", 1) for items in layers for item in items if item.get("size")}
    assert opacities == {1, 0.4}


def test_the_lines_of_the_variance_are_what_theory_says():
    figure = width_curves(MEASURED, "variance", d_k=8, power=0.5)
    rows = figure.frame.to_dict("records")
    expected = {(row["d_k"], row["power"]): row["expected"] for row in rows}
    assert expected == {(1, 0): 1, (8, 0): 8, (64, 0): 64, (1, 0.5): 1, (8, 0.5): 1, (64, 0.5): 1}
    assert [row["variance"] for row in rows] == MEASURED["variance"].tolist()
