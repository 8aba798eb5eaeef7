import pandas as pd
import pytest

from tests.viz.scene import drawn
from viz.builders.palette import ACCENT
from viz.inside.width_curves import scale_name, width_curves

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
    found = {(row["d_k"], row["power"]): row["expected"] for row in rows}
    assert found == {(1, 0): 1, (8, 0): 8, (64, 0): 64, (1, 0.5): 1, (8, 0.5): 1, (64, 0.5): 1}
    assert [row["variance"] for row in rows] == MEASURED["variance"].tolist()


def test_a_width_between_those_measured_is_marked_between_them():
    layers = drawn(width_curves(MEASURED, "entropy", d_k=23, power=0.0), width=400)
    (rule,) = (item for items in layers for item in items if item.get("stroke") == ACCENT)
    ticks = [drawn(width_curves(MEASURED, "entropy", d_k=at, power=0.0), width=400) for at in (8, 64)]
    left, right = (
        next(item["x"] for items in layers for item in items if item.get("stroke") == ACCENT)
        for layers in ticks
    )
    assert left < rule["x"] < right
