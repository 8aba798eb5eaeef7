import pandas as pd
import pytest

from tests.viz.scene import drawn, whole
from viz.builders.palette import ACCENT
from viz.inside.head_points import variance_of_heads, with_and_without_scale

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
    found = points(chart())
    assert set(found) == {"L0 H0", "L0 H1", "L1 H0", "L1 H1"}
    assert [name for name, point in found.items() if point["fill"] == ACCENT] == ["L1 H0"]
    assert found["L1 H0"]["size"] > found["L0 H0"]["size"]


def test_variances_stand_on_a_logarithmic_axis_by_layer():
    found = points(variance())
    ys = [found[name]["y"] for name in ("L0 H0", "L0 H1", "L1 H0", "L1 H1")]
    assert [ys[0] - ys[1], ys[1] - ys[2], ys[2] - ys[3]] == pytest.approx([ys[0] - ys[1]] * 3)
    assert found["L0 H0"]["x"] < found["L0 H1"]["x"] < found["L1 H0"]["x"]


def test_the_line_is_at_d_k():
    rule, _ = drawn(variance(), width=400)
    found = points(variance())
    assert found["L1 H0"]["y"] < rule[0]["y"] < found["L0 H1"]["y"]  # 32 is between 20 and 40
    assert "dashed: 32," in whole(variance())["title"]["subtitle"][0]


def test_a_head_without_variance_has_no_point():
    assert set(points(variance(HEADS.assign(variance=[0.0, 0.0, 40.0, 0.0])))) == {"L1 H0"}
    assert not points(variance(HEADS.assign(variance=0.0)))


def test_with_and_without_share_their_axis():
    spec = whole(compared())
    encoding = spec["layer"][1]["encoding"]
    assert encoding["x"]["scale"] == encoding["y"]["scale"]
    assert encoding["x"]["scale"]["domain"] == [0, {"expr": "end"}]
    (end,) = (each["value"] for each in spec["params"] if each["name"] == "end")
    assert end == pytest.approx(0.945)


def test_no_heads_make_empty_charts():
    assert not points(compared(HEADS[:0]))
    assert not points(variance(HEADS[:0]))
