import pandas as pd
import pytest

from tests.viz.scene import drawn
from viz.inside.width_curves import entropy_over_width, gradient_over_width, variance_over_width
from viz.palette import ACCENT

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


@pytest.mark.parametrize("chart", [variance_over_width, entropy_over_width, gradient_over_width])
def test_the_chosen_width_is_marked_and_the_chosen_scale_stands_out(chart):
    layers = drawn(chart(MEASURED, d_k=8, power=0.5), width=400)
    rules = [item for items in layers for item in items if item.get("stroke") == ACCENT]
    assert len(rules) == 1
    opacities = {item.get("opacity", 1) for items in layers for item in items if item.get("size")}
    assert opacities <= {1, 0.4}


def test_the_lines_of_the_variance_are_what_theory_says():
    spec = variance_over_width(MEASURED, d_k=8, power=0.5).to_dict()
    expected = spec["datasets"][spec["layer"][0]["data"]["name"]]
    found = {(row["d_k"], row["power"]): row["variance"] for row in expected}
    assert found == {(1, 0): 1, (8, 0): 8, (64, 0): 64, (1, 0.5): 1, (8, 0.5): 1, (64, 0.5): 1}
    points = spec["datasets"][spec["layer"][1]["data"]["name"]]
    assert [row["variance"] for row in points] == MEASURED["variance"].tolist()


def test_a_width_between_those_measured_is_marked_between_them():
    layers = drawn(entropy_over_width(MEASURED, d_k=23, power=0.0), width=400)
    (rule,) = (item for items in layers for item in items if item.get("stroke") == ACCENT)
    ticks = [drawn(entropy_over_width(MEASURED, d_k=at, power=0.0), width=400) for at in (8, 64)]
    left, right = (
        next(item["x"] for items in layers for item in items if item.get("stroke") == ACCENT)
        for layers in ticks
    )
    assert left < rule["x"] < right


def test_the_band_is_of_the_chosen_scale_alone():
    spec = gradient_over_width(MEASURED, d_k=8, power=0.5).to_dict()
    assert spec["layer"][0]["mark"]["type"] == "area"
    assert spec["layer"][0]["transform"] == [{"filter": "(datum['power'] === 0.5)"}]
